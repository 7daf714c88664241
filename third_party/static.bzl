"""The linker words that pick static archives of the system."""

def static_group(archives):
    """Returns linker options that take `archives` (names without lib and .a) statically, in any order."""
    return [
        "-Wl,--start-group",
    ] + ["-l:lib%s.a" % archive for archive in archives] + [
        "-Wl,--end-group",
    ]
