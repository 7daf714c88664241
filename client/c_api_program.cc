// Programs of the C ABI.
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/c_api_error.h"
#include "client/c_api_session.h"
#include "gpuos/c_api.h"
#include "gpuos/program.h"

using gpuos::internal::Guarded;
using gpuos::internal::MustNotBeNull;

// One thread at a time.
struct gpuos_program_builder {
  gpuos::ProgramBuilder program;
  // The first thing that cannot be written down; gpuos_program_create reports it.
  absl::Status error;
  std::uint32_t tasks = 0;
};

namespace {

enum AttributeKind : std::uint32_t { kInteger = 1, kFloating = 2, kBool = 3 };

absl::StatusOr<gpuos::View> Read(const gpuos_view& view) {
  if (view.dims > GPUOS_MAX_DIMS) {
    return absl::InvalidArgumentError(absl::StrCat(
        "dims is ", view.dims, " and a view has at most ", GPUOS_MAX_DIMS, ": merge dimensions"));
  }
  gpuos::View out;
  out.slot = view.slot;
  out.dtype = static_cast<gpuos::DType>(view.dtype);
  out.offset = view.offset;
  out.sizes.assign(view.sizes, view.sizes + view.dims);
  out.strides.assign(view.strides, view.strides + view.dims);
  return out;
}

absl::StatusOr<gpuos::Attribute> Read(const gpuos_attribute& attribute) {
  if (attribute.name == nullptr) return MustNotBeNull("attribute name");
  switch (attribute.kind) {
    case kInteger:
      return gpuos::Attribute{attribute.name, std::int64_t{attribute.i}};
    case kFloating:
      return gpuos::Attribute{attribute.name, attribute.f};
    case kBool:
      return gpuos::Attribute{attribute.name, attribute.i != 0};
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("kind of attribute \"", attribute.name, "\" is ", attribute.kind,
                       ": it must be 1 (integer), 2 (floating) or 3 (bool)"));
  }
}

// Copies `count` structs of the C ABI.
template <typename Out, typename In>
absl::Status ReadAll(const char* name, const In* in, std::uint32_t count, std::vector<Out>* out) {
  if (in == nullptr && count > 0) return MustNotBeNull(name);
  out->reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    absl::StatusOr<Out> read = Read(in[i]);
    if (!read.ok()) {
      return absl::Status(read.status().code(),
                          absl::StrCat(name, "[", i, "]: ", read.status().message()));
    }
    out->push_back(*std::move(read));
  }
  return absl::OkStatus();
}

absl::Status AddTask(gpuos_program_builder* builder, const char* op, const gpuos_view* views,
                     std::uint32_t view_count, const gpuos_attribute* attributes,
                     std::uint32_t attribute_count, const std::uint32_t* after,
                     std::uint32_t after_count) {
  if (op == nullptr) return MustNotBeNull("op");
  if (after == nullptr && after_count > 0) return MustNotBeNull("after");
  std::vector<gpuos::View> operands;
  std::vector<gpuos::Attribute> values;
  absl::Status status = ReadAll("views", views, view_count, &operands);
  status.Update(ReadAll("attributes", attributes, attribute_count, &values));
  if (!status.ok()) return status;
  builder->program.AddTask(op, operands, values, absl::MakeConstSpan(after, after_count));
  return absl::OkStatus();
}

}  // namespace

gpuos_program_builder* gpuos_program_builder_new(void) { return new gpuos_program_builder; }

void gpuos_program_builder_free(gpuos_program_builder* builder) { delete builder; }

uint32_t gpuos_program_add_slot(gpuos_program_builder* builder, uint64_t length) {
  return builder->program.AddSlot(length);
}

uint32_t gpuos_program_add_task(gpuos_program_builder* builder, const char* op,
                                const gpuos_view* views, uint32_t view_count,
                                const gpuos_attribute* attributes, uint32_t attribute_count,
                                const uint32_t* after, uint32_t after_count) {
  const std::uint32_t task = builder->tasks++;
  const absl::Status status =
      AddTask(builder, op, views, view_count, attributes, attribute_count, after, after_count);
  if (!status.ok()) {
    builder->error.Update(
        absl::Status(status.code(), absl::StrCat("tasks[", task, "]: ", status.message())));
  }
  return task;
}

int gpuos_program_create(gpuos_session* session, const gpuos_program_builder* builder,
                         uint64_t* program) {
  return Guarded([&]() -> absl::Status {
    if (session == nullptr) return MustNotBeNull("session");
    if (builder == nullptr) return MustNotBeNull("builder");
    if (program == nullptr) return MustNotBeNull("program");
    if (!builder->error.ok()) return builder->error;
    auto created = session->session->CreateProgram(builder->program);
    if (!created.ok()) return created.status();
    *program = static_cast<std::uint64_t>(*created);
    return absl::OkStatus();
  });
}

int gpuos_program_release(gpuos_session* session, uint64_t program) {
  return Guarded([&]() -> absl::Status {
    if (session == nullptr) return MustNotBeNull("session");
    return session->session->ReleaseProgram(gpuos::ProgramId{program});
  });
}
