#include "gpuos/program.h"

#include <utility>

#include "gpuos/v1/types.pb.h"

namespace gpuos {
namespace {

void Write(const View& view, v1::View* out) {
  out->set_slot(view.slot);
  out->set_offset(view.offset);
  out->set_dtype(static_cast<v1::DType>(view.dtype));
  out->mutable_sizes()->Add(view.sizes.begin(), view.sizes.end());
  out->mutable_strides()->Add(view.strides.begin(), view.strides.end());
}

void Write(const Attribute& attribute, v1::Attribute* out) {
  out->set_name(attribute.name);
  v1::Scalar* const value = out->mutable_value();
  if (const auto* i = std::get_if<std::int64_t>(&attribute.value)) value->set_i(*i);
  if (const auto* f = std::get_if<double>(&attribute.value)) value->set_f(*f);
  if (const auto* b = std::get_if<bool>(&attribute.value)) value->set_b(*b);
}

}  // namespace

View View::Contiguous(std::uint32_t slot, DType dtype, std::vector<std::int64_t> sizes,
                      std::uint64_t offset) {
  std::vector<std::int64_t> strides(sizes.size());
  // Unsigned, so that sizes which the daemon will refuse wrap here instead of being undefined.
  std::uint64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = static_cast<std::int64_t>(stride);
    stride *= static_cast<std::uint64_t>(sizes[i]);
  }
  return View{slot, dtype, offset, std::move(sizes), std::move(strides)};
}

ProgramBuilder::ProgramBuilder() : program_(std::make_unique<v1::Program>()) {}
ProgramBuilder::ProgramBuilder(ProgramBuilder&&) noexcept = default;
ProgramBuilder& ProgramBuilder::operator=(ProgramBuilder&&) noexcept = default;
ProgramBuilder::~ProgramBuilder() = default;

std::uint32_t ProgramBuilder::AddSlot(std::uint64_t length) {
  program_->add_slots()->set_length(length);
  return static_cast<std::uint32_t>(program_->slots_size() - 1);
}

std::uint32_t ProgramBuilder::AddTask(const std::string& op, absl::Span<const View> operands,
                                      absl::Span<const Attribute> attributes,
                                      absl::Span<const std::uint32_t> after) {
  v1::Task* const task = program_->add_tasks();
  task->set_op(op);
  for (const View& view : operands) Write(view, task->add_operands());
  for (const Attribute& attribute : attributes) Write(attribute, task->add_attributes());
  task->mutable_after()->Add(after.begin(), after.end());
  return static_cast<std::uint32_t>(program_->tasks_size() - 1);
}

}  // namespace gpuos
