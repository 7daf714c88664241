"""C++ libraries from .proto files, by the protoc and grpc_cpp_plugin that Debian installs."""

def gpuos_proto_library(name, srcs, deps = [], grpc = False, visibility = None):
    """Generates a cc_library from .proto files below //proto.

    The C++ include path is the path below proto/: proto/gpuos/v1/types.proto gives
    "gpuos/v1/types.pb.h" and, with grpc, "gpuos/v1/types.grpc.pb.h".

    Args:
      name: the cc_library. NAME_protos is the filegroup of this and all imported .proto files.
      srcs: .proto files of this package.
      deps: other gpuos_proto_library targets whose files these import.
      grpc: whether the files declare services.
      visibility: as of any rule.
    """
    import_root, _, below = native.package_name().partition("/")
    suffixes = [".pb"] + ([".grpc.pb"] if grpc else [])

    # A folder of their own inside of the package, so that `includes` can make it a system folder.
    stems = ["include/%s/%s" % (below, src[:-len(".proto")]) for src in srcs]
    headers = [stem + suffix + ".h" for stem in stems for suffix in suffixes]
    sources = [stem + suffix + ".cc" for stem in stems for suffix in suffixes]

    native.filegroup(
        name = name + "_protos",
        srcs = srcs + [_full_label(d) + "_protos" for d in deps],
        visibility = visibility,
    )

    plugin = ""
    if grpc:
        plugin = " --plugin=protoc-gen-grpc=/usr/bin/grpc_cpp_plugin --grpc_out=$(RULEDIR)/include"
    native.genrule(
        name = name + "_gen",
        srcs = srcs + [_full_label(d) + "_protos" for d in deps],
        outs = headers + sources,
        cmd = "/usr/bin/protoc --fatal_warnings -I" + import_root +
              " --cpp_out=$(RULEDIR)/include" + plugin +
              " " + " ".join(["$(location %s)" % src for src in srcs]),
        message = "Generating C++ from",
        visibility = ["//visibility:private"],
    )

    native.cc_library(
        name = name,
        srcs = sources,
        hdrs = headers,
        # Generated code is not ours to clean: its warnings are off, and it is included as a system header.
        copts = ["-w"],
        includes = ["include"],
        visibility = visibility,
        deps = deps + ["//third_party:protobuf"] + (["//third_party:grpc"] if grpc else []),
    )

def _full_label(label):
    """Returns `label` with an explicit target name, so that a suffix can be appended."""
    if label.startswith("//") and ":" not in label:
        return label + ":" + label.split("/")[-1]
    return label
