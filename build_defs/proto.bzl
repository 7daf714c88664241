"""C++ libraries from .proto files, by the protoc and grpc_cpp_plugin that Debian installs."""

def gpuos_proto_library(name, srcs, deps = [], grpc = None, visibility = None):
    """Generates a cc_library from .proto files of a package below //proto.

    The C++ include path is the path below proto/: proto/gpuos/v1/types.proto gives
    "gpuos/v1/types.pb.h" and, with grpc, "gpuos/v1/types.grpc.pb.h".

    Args:
      name: the cc_library of the messages. NAME_protos is the filegroup of these and all imported files.
      srcs: .proto files of this package.
      deps: other gpuos_proto_library targets whose files these import.
      grpc: name of a second cc_library with the services, for files that declare some. Apart, so that
        programs which only need the messages do not link gRPC.
      visibility: as of any rule.
    """
    import_root, _, below = native.package_name().partition("/")

    # A folder of their own inside of the package, so that `includes` can make it a system folder.
    stems = ["include/%s/%s" % (below, src[:-len(".proto")]) for src in srcs]
    imported = [_full_label(dep) + "_protos" for dep in deps]
    protoc = "/usr/bin/protoc --fatal_warnings -I" + import_root + " "
    files = " ".join(["$(location %s)" % src for src in srcs])

    native.filegroup(
        name = name + "_protos",
        srcs = srcs + imported,
        visibility = visibility,
    )
    _generated_library(
        name = name,
        inputs = srcs + imported,
        stems = [stem + ".pb" for stem in stems],
        cmd = protoc + "--cpp_out=$(RULEDIR)/include " + files,
        deps = deps + ["//third_party:protobuf"],
        visibility = visibility,
    )
    if grpc:
        _generated_library(
            name = grpc,
            inputs = srcs + imported,
            stems = [stem + ".grpc.pb" for stem in stems],
            cmd = protoc + "--plugin=protoc-gen-grpc=/usr/bin/grpc_cpp_plugin --grpc_out=$(RULEDIR)/include " + files,
            deps = [":" + name] + deps + ["//third_party:grpc"],
            visibility = visibility,
        )

def _generated_library(name, inputs, stems, cmd, deps, visibility):
    """Generates STEM.h and STEM.cc for each stem by `cmd` and makes a cc_library of them."""
    headers = [stem + ".h" for stem in stems]
    sources = [stem + ".cc" for stem in stems]
    native.genrule(
        name = name + "_gen",
        srcs = inputs,
        outs = headers + sources,
        cmd = cmd,
        message = "Generating C++ from protos:",
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
        deps = deps,
    )

def _full_label(label):
    """Returns `label` with an explicit target name, so that a suffix can be appended."""
    if label.startswith("//") and ":" not in label:
        return label + ":" + label.split("/")[-1]
    return label
