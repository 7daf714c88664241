// Protobuf messages as JSON for people and scripts.
#ifndef GPUOS_CLIENT_INTERNAL_JSON_H_
#define GPUOS_CLIENT_INTERNAL_JSON_H_

#include <google/protobuf/message.h>

#include <string>

namespace gpuos::internal {

// `message` with the field names of the .proto, in their order. Every field is there, also when it
// is zero, but members of a oneof that are not set and messages that are not. Numbers are JSON
// numbers, 64-bit ones too (Protobuf's own JSON makes them strings); enums are their names; bytes
// are hex. `indent` spaces a level, on lines of their own; negative: one line. Thread-safe.
std::string ToJson(const google::protobuf::Message& message, int indent = -1);

}  // namespace gpuos::internal

#endif  // GPUOS_CLIENT_INTERNAL_JSON_H_
