#!/bin/bash
# Usage: resources_test.sh AS_KERNELS.resources.txt BUILTINS.resources.txt REGISTERS FRAME
# The operators' needs on a GPU, as ptxas states them: as kernels no stack and no spills within the
# register budget; as functions no more stack than saving the registers of the calling convention takes.
set -euo pipefail
as_kernels=$1 builtins=$2 registers=$3 frame=$4
failed=0
complain() {
  echo "$1" >&2
  failed=1
}

kernels=$(grep -c "Function properties for gpuos_op_" "$as_kernels")
functions=$(grep -c "Function properties for gpuos_op_" "$builtins")
[[ $kernels -ge 29 ]] || complain "$as_kernels names $kernels operators, fewer than there are"
[[ $functions -eq $kernels ]] || complain "$builtins names $functions operators, $as_kernels $kernels"

while read -r name stack stores loads used; do
  [[ $stack == 0 && $stores == 0 && $loads == 0 ]] ||
    complain "$name needs $stack bytes of stack, spills $stores and loads back $loads: fewer values at once"
  [[ $used -le $registers ]] || complain "$name uses $used registers of $registers"
done < <(awk '/Function properties for gpuos_op_/ {name = $NF}
              /bytes stack frame/ {line = name " " $1 " " $5 " " $9}
              /Used [0-9]+ registers/ && name != "" {
                for (i = 1; i < NF; ++i) if ($i == "Used") print line, $(i + 1)
                name = ""
              }' "$as_kernels")

while read -r name stack; do
  [[ $stack -le $frame ]] || complain "$name as a function needs a frame of $stack bytes, the limit is $frame"
done < <(awk '/Function properties for gpuos_op_/ {name = $NF}
              /bytes stack frame/ && name != "" {print name, $1; name = ""}' "$builtins")

exit $failed
