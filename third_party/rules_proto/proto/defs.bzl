"""The native Protobuf rules under the names that Bazel's embedded tools load from @rules_proto."""

proto_lang_toolchain = native.proto_lang_toolchain
proto_library = native.proto_library
_ProtoInfo = ProtoInfo
