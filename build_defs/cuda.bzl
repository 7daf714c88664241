"""CUDA device code as one cubin file, by the nvcc of --define=cuda_home=DIR."""

def cuda_cubin(name, srcs, hdrs = [], defines = [], maxrregcount = None, arch = "sm_90", opts = [], tags = [], testonly = False, visibility = None):
    """Compiles .cu files as relocatable device code and links them to one cubin.

    -rdc=true makes a function pointer a raw code address (in a whole-program build it is an index
    that means nothing outside of the module), so tables of device functions are filled by the linker.

    Outputs:
      NAME.cubin: what cuModuleLoadData takes.
      NAME.resources.txt: what ptxas -v says of each function (registers, stack, spills, barriers),
        then, after a line '# linked', what nvlink says of the linked kernels.

    Args:
      name: stem of the outputs.
      srcs: .cu files; includes are relative to the repository root.
      hdrs: every file that they include, as files or filegroups.
      defines: preprocessor definitions, without -D.
      maxrregcount: register budget; None leaves it to the compiler.
      arch: real architecture.
      opts: further nvcc compile options.
      tags: tags of the rule.
      testonly: as of any rule.
      visibility: as of any rule.
    """
    flags = ["-arch=" + arch, "-std=c++17"] + ["-D" + define for define in defines] + opts
    if maxrregcount:
        flags.append("-maxrregcount=%d" % maxrregcount)
    native.genrule(
        name = name,
        srcs = srcs + hdrs,
        outs = [
            name + ".cubin",
            name + ".resources.txt",
        ],
        cmd = "$(location //build_defs:nvcc_cubin.sh) '$(cuda_home)' %s $(location %s.cubin) $(location %s.resources.txt) '%s' %s" % (
            arch,
            name,
            name,
            " ".join(flags),
            " ".join(["$(locations %s)" % src for src in srcs]),
        ),
        exec_tools = ["//build_defs:nvcc_cubin.sh"],
        message = "Compiling the CUDA worker",
        tags = tags,
        testonly = testonly,
        visibility = visibility,
    )
