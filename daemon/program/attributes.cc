#include "daemon/program/attributes.h"

#include <bitset>
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "daemon/program/field_path.h"
#include "kernels/abi/limits.h"

namespace gpuos::program {
namespace {

absl::string_view NameOf(ops::AttributeKind kind) {
  switch (kind) {
    case ops::AttributeKind::kInt:
      return "a whole number (i)";
    case ops::AttributeKind::kFloat:
      return "a number (f or i)";
    case ops::AttributeKind::kBool:
      return "true or false (b)";
  }
  return "of a kind unknown here";
}

absl::string_view NameOf(v1::Scalar::KindCase given) {
  switch (given) {
    case v1::Scalar::kI:
      return "i";
    case v1::Scalar::kF:
      return "f";
    case v1::Scalar::kB:
      return "b";
    case v1::Scalar::KIND_NOT_SET:
      break;
  }
  return "not set";
}

// Converts `value`; false if it is of another kind than `kind` takes.
bool Convert(const v1::Scalar& value, ops::AttributeKind kind, abi::Scalar& out) {
  const v1::Scalar::KindCase given = value.kind_case();
  if (kind == ops::AttributeKind::kInt && given == v1::Scalar::kI) {
    out.i = value.i();
  } else if (kind == ops::AttributeKind::kFloat && given == v1::Scalar::kF) {
    out.f = value.f();
  } else if (kind == ops::AttributeKind::kFloat && given == v1::Scalar::kI) {
    out.f = static_cast<double>(value.i());
  } else if (kind == ops::AttributeKind::kBool && given == v1::Scalar::kB) {
    out.i = value.b() ? 1 : 0;
  } else {
    return false;
  }
  return true;
}

std::string ListAttributes(const ops::Signature& signature) {
  if (signature.attributes.empty()) return "none";
  return absl::StrJoin(signature.attributes, ", ",
                       [](std::string* text, const ops::Attribute& attribute) {
                         absl::StrAppend(text, attribute.name);
                       });
}

// The place of `name` among the attributes; their number if it is none of them.
std::size_t PlaceOf(absl::string_view name, const ops::Signature& signature) {
  std::size_t place = 0;
  while (place < signature.attributes.size() && signature.attributes[place].name != name) ++place;
  return place;
}

}  // namespace

absl::Status FillAttributes(const v1::Task& task, std::uint32_t index,
                            const ops::Signature& signature, abi::Task& out) {
  out.attribute_count = static_cast<std::uint16_t>(signature.attributes.size());
  for (std::size_t i = 0; i < signature.attributes.size(); ++i) {
    out.attributes[i] = signature.attributes[i].default_value;
  }
  std::bitset<abi::kMaxAttributes> given;
  for (int i = 0; i < task.attributes_size(); ++i) {
    const v1::Attribute& attribute = task.attributes(i);
    const std::string path = absl::StrCat(TaskPath(index), ".attributes[", i, "]");
    const std::size_t place = PlaceOf(attribute.name(), signature);
    if (place == signature.attributes.size()) {
      return absl::InvalidArgumentError(absl::StrCat(path, ".name is ", Quoted(attribute.name()),
                                                     "; the attributes of ", signature.name,
                                                     " are: ", ListAttributes(signature)));
    }
    if (given[place]) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ".name is ", Quoted(attribute.name()),
                       " for the second time; give each attribute of ", signature.name, " (",
                       ListAttributes(signature), ") at most once"));
    }
    given.set(place);
    const ops::AttributeKind kind = signature.attributes[place].kind;
    if (!Convert(attribute.value(), kind, out.attributes[place])) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ".value is ", NameOf(attribute.value().kind_case()), "; ",
                       attribute.name(), " of ", signature.name, " must be ", NameOf(kind)));
    }
  }
  return absl::OkStatus();
}

}  // namespace gpuos::program
