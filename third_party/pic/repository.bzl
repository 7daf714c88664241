"""Static archives as Bazel libraries: @archives//:absl, @archives//:grpc and so on.

Archives are files here, not -l words in linkopts, because Bazel puts every archive before every linkopt
and the linker resolves from left to right.
"""

# Name -> the archives that it needs, which the linker must see after it.
_ARCHIVES = {
    "absl": [],
    "address_sorting": [],
    "cares": [],
    "crypto": [],
    "gpr": ["absl"],
    "grpc": ["address_sorting", "absl", "cares", "gpr", "re2", "ssl", "upb", "z"],
    "grpc++": ["absl", "gpr", "grpc", "protobuf", "upb"],
    "grpc++_reflection": ["grpc++", "protobuf"],
    "protobuf": ["z"],
    "re2": [],
    "ssl": ["crypto"],
    "upb": [],
    "z": [],
}

# Built by deploy/setup.sh as position-independent code; Debian ships the others so.
_BUILT = ["absl", "protobuf", "re2"]

_SYSTEM_FOLDER = "/usr/lib/x86_64-linux-gnu"

# Server reflection registers itself in a static constructor, so its archive is kept whole (.lo).
_WHOLE = ["grpc++_reflection"]

_LIBRARY = """
cc_library(
    name = "{name}",
    srcs = ["lib{name}.{extension}"],
    visibility = ["//visibility:public"],
    deps = {deps},
)
"""

def _archives_impl(repository_ctx):
    root = repository_ctx.path(Label("//:WORKSPACE")).dirname
    built_folder = root.get_child(".cache").get_child("pic")
    build = ""
    for name, needed in _ARCHIVES.items():
        if name in _BUILT:
            archive = built_folder.get_child("lib%s_pic.a" % name)
        else:
            archive = repository_ctx.path("%s/lib%s.a" % (_SYSTEM_FOLDER, name))
        if not archive.exists:
            fail("%s is missing: run ./deploy/setup.sh once, it installs or builds this archive" % archive)
        extension = "lo" if name in _WHOLE else "a"
        repository_ctx.symlink(archive, "lib%s.%s" % (name, extension))
        build += _LIBRARY.format(
            name = name,
            extension = extension,
            deps = [":" + dep for dep in needed],
        )
    repository_ctx.file("BUILD", build)

system_archives = repository_rule(
    implementation = _archives_impl,
    local = True,
)
