#!/bin/bash
# Usage: embed_file.sh FILE SYMBOL HEADER ASSEMBLY
# Writes an assembly file that includes FILE's bytes as SYMBOL, and the header that declares it.
set -euo pipefail
file=$1 symbol=$2 header=$3 assembly=$4
cat >"$header" <<TXT
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
extern const unsigned char ${symbol}[];
extern const size_t ${symbol}_size;
#ifdef __cplusplus
}
#endif
TXT
cat >"$assembly" <<TXT
  .section .rodata
  .global ${symbol}, ${symbol}_size
  .hidden ${symbol}, ${symbol}_size
  .type ${symbol}, @object
  .type ${symbol}_size, @object
  .balign 16
${symbol}:
  .incbin "$file"
${symbol}_end:
  .byte 0
  .size ${symbol}, ${symbol}_end - ${symbol}
  .balign 8
${symbol}_size:
  .quad ${symbol}_end - ${symbol}
  .size ${symbol}_size, 8
  .section .note.GNU-stack, "", @progbits
TXT
