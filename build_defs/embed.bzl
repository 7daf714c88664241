"""A file's bytes as a C++ library."""

def embed_file(name, src, symbol, tags = [], testonly = False, visibility = None):
    """Makes a cc_library that holds the bytes of `src`.

    The header is PACKAGE/NAME.h and declares, at global scope with C linkage:
      extern const unsigned char SYMBOL[];   // 16-byte aligned, followed by a zero byte
      extern const size_t SYMBOL_size;       // bytes, without that zero

    Args:
      name: the cc_library and the stem of its header.
      src: one file, or a label that gives one file.
      symbol: a C identifier.
      tags: tags of the rules.
      testonly: as of any rule.
      visibility: as of any rule.
    """
    native.genrule(
        name = name + "_gen",
        srcs = [src],
        outs = [
            name + ".h",
            name + ".S",
        ],
        cmd = "$(location //build_defs:embed_file.sh) $(location %s) %s $(location %s.h) $(location %s.S)" % (src, symbol, name, name),
        exec_tools = ["//build_defs:embed_file.sh"],
        message = "Embedding",
        tags = tags,
        testonly = testonly,
        visibility = ["//visibility:private"],
    )
    native.cc_library(
        name = name,
        # The assembler reads the embedded file while it compiles, so it is an input.
        srcs = [name + ".S"],
        hdrs = [name + ".h"],
        textual_hdrs = [src],
        tags = tags,
        testonly = testonly,
        visibility = visibility,
    )
