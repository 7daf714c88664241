#include "client/internal/json.h"

#include <google/protobuf/descriptor.h>

#include <nlohmann/json.hpp>

#include "absl/strings/escaping.h"

namespace gpuos::internal {
namespace {

using Json = nlohmann::ordered_json;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

Json MessageJson(const Message& message);

Json TextJson(const FieldDescriptor& field, const std::string& text) {
  return field.type() == FieldDescriptor::TYPE_BYTES ? absl::BytesToHexString(text) : text;
}

Json ValueJson(const Message& message, const FieldDescriptor& field) {
  const Reflection& get = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return get.GetInt32(message, &field);
    case FieldDescriptor::CPPTYPE_INT64:
      return get.GetInt64(message, &field);
    case FieldDescriptor::CPPTYPE_UINT32:
      return get.GetUInt32(message, &field);
    case FieldDescriptor::CPPTYPE_UINT64:
      return get.GetUInt64(message, &field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return get.GetDouble(message, &field);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return get.GetFloat(message, &field);
    case FieldDescriptor::CPPTYPE_BOOL:
      return get.GetBool(message, &field);
    case FieldDescriptor::CPPTYPE_ENUM:
      return get.GetEnum(message, &field)->name();
    case FieldDescriptor::CPPTYPE_STRING:
      return TextJson(field, get.GetString(message, &field));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return MessageJson(get.GetMessage(message, &field));
  }
  return nullptr;
}

Json ElementJson(const Message& message, const FieldDescriptor& field, int i) {
  const Reflection& get = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return get.GetRepeatedInt32(message, &field, i);
    case FieldDescriptor::CPPTYPE_INT64:
      return get.GetRepeatedInt64(message, &field, i);
    case FieldDescriptor::CPPTYPE_UINT32:
      return get.GetRepeatedUInt32(message, &field, i);
    case FieldDescriptor::CPPTYPE_UINT64:
      return get.GetRepeatedUInt64(message, &field, i);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return get.GetRepeatedDouble(message, &field, i);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return get.GetRepeatedFloat(message, &field, i);
    case FieldDescriptor::CPPTYPE_BOOL:
      return get.GetRepeatedBool(message, &field, i);
    case FieldDescriptor::CPPTYPE_ENUM:
      return get.GetRepeatedEnum(message, &field, i)->name();
    case FieldDescriptor::CPPTYPE_STRING:
      return TextJson(field, get.GetRepeatedString(message, &field, i));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return MessageJson(get.GetRepeatedMessage(message, &field, i));
  }
  return nullptr;
}

Json ListJson(const Message& message, const FieldDescriptor& field) {
  Json list = Json::array();
  const int size = message.GetReflection()->FieldSize(message, &field);
  for (int i = 0; i < size; ++i) list.push_back(ElementJson(message, field, i));
  return list;
}

Json MessageJson(const Message& message) {
  Json object = Json::object();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor& field = *message.GetDescriptor()->field(i);
    if (field.is_repeated()) {
      object[field.name()] = ListJson(message, field);
    } else if (!field.has_presence() || message.GetReflection()->HasField(message, &field)) {
      object[field.name()] = ValueJson(message, field);
    }
  }
  return object;
}

}  // namespace

std::string ToJson(const Message& message, int indent) {
  return MessageJson(message).dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace gpuos::internal
