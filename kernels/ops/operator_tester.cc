#include "kernels/ops/operator_tester.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gpuos/call.h"
#include "kernels/ops/builtins.h"

namespace gpuos::ops {
namespace {

// Slots by buffer, in order of first use.
std::vector<abi::DeviceAddress> Bind(const std::vector<OperandBytes>& operands,
                                     std::vector<abi::View>& views) {
  std::vector<abi::DeviceAddress> bindings;
  for (const OperandBytes& operand : operands) {
    const auto address = reinterpret_cast<abi::DeviceAddress>(operand.bytes->data());
    const auto found = std::find(bindings.begin(), bindings.end(), address);
    abi::View view = operand.view;
    view.slot = static_cast<std::uint32_t>(found - bindings.begin());
    if (found == bindings.end()) bindings.push_back(address);
    views.push_back(view);
  }
  return bindings;
}

std::vector<abi::Scalar> AttributesOf(const Signature& signature, const RunOptions& options) {
  std::vector<abi::Scalar> attributes = options.attributes;
  for (std::size_t i = attributes.size(); i < signature.attributes.size(); ++i) {
    attributes.push_back(signature.attributes[i].default_value);
  }
  return attributes;
}

// The plan with other tiles over the same units.
Plan Recut(const Plan& plan, std::uint64_t tile_size) {
  if (tile_size == 0) return plan;
  const std::uint64_t units = plan.tiles * plan.tile_size;
  return Plan{static_cast<std::uint32_t>((units + tile_size - 1) / tile_size), tile_size};
}

}  // namespace

Layout Dense(std::vector<std::int64_t> sizes) {
  Layout layout{std::move(sizes), {}, 0};
  layout.strides.resize(layout.sizes.size());
  std::int64_t run = 1;
  for (std::size_t d = layout.sizes.size(); d-- > 0;) {
    layout.strides[d] = run;
    run *= layout.sizes[d];
  }
  return layout;
}

Layout Transposed(std::vector<std::int64_t> sizes) {
  Layout layout{std::move(sizes), {}, 0};
  std::int64_t run = 1;
  for (std::int64_t size : layout.sizes) {
    layout.strides.push_back(run);
    run *= size;
  }
  return layout;
}

Layout Spread(std::vector<std::int64_t> sizes) {
  Layout layout = Dense(std::move(sizes));
  for (std::size_t d = 0; d < layout.strides.size(); ++d) layout.strides[d] *= 3;
  layout.offset = 5;
  return layout;
}

Layout Repeated(std::vector<std::int64_t> sizes) {
  Layout layout{std::move(sizes), {}, 0};
  layout.strides.assign(layout.sizes.size(), 0);
  return layout;
}

std::vector<Layout> LayoutsOf(const std::vector<std::int64_t>& sizes) {
  return {Dense(sizes), Transposed(sizes), Spread(sizes)};
}

std::int64_t ElementsOf(const Layout& layout) {
  std::int64_t elements = 1;
  for (std::int64_t size : layout.sizes) elements *= size;
  return elements;
}

std::int64_t PlaceOf(const Layout& layout, std::int64_t index) {
  std::int64_t place = layout.offset;
  for (std::size_t d = layout.sizes.size(); d-- > 0;) {
    place += index % layout.sizes[d] * layout.strides[d];
    index /= layout.sizes[d];
  }
  return place;
}

std::int64_t SpanOf(const Layout& layout) {
  const std::int64_t elements = ElementsOf(layout);
  return elements == 0 ? layout.offset : PlaceOf(layout, elements - 1) + 1;
}

abi::View ViewOf(abi::DType dtype, const Layout& layout, std::uint32_t slot) {
  abi::View view{};
  view.slot = slot;
  view.dtype = dtype;
  view.dims = static_cast<std::uint8_t>(layout.sizes.size());
  view.offset = static_cast<std::uint64_t>(layout.offset) * abi::SizeOf(dtype);
  view.elements = ElementsOf(layout);
  for (std::size_t d = 0; d < abi::kMaxDims; ++d) {
    view.sizes[d] = d < layout.sizes.size() ? layout.sizes[d] : 1;
    view.strides[d] = d < layout.sizes.size() ? layout.strides[d] : 0;
  }
  return view;
}

abi::DType DTypeOf(float) { return abi::DType::kF32; }
abi::DType DTypeOf(std::int64_t) { return abi::DType::kI64; }
abi::DType DTypeOf(bool) { return abi::DType::kBool; }

absl::Status RunOperator(const std::string& name, const std::vector<OperandBytes>& operands,
                         const RunOptions& options) {
  const std::vector<Signature>& all = Builtins();
  const auto signature =
      std::find_if(all.begin(), all.end(), [&](const Signature& s) { return s.name == name; });
  if (signature == all.end()) return absl::NotFoundError(absl::StrCat("no operator ", name));
  std::vector<abi::View> views;
  const std::vector<abi::DeviceAddress> bindings = Bind(operands, views);
  const absl::StatusOr<Plan> planned = PlanTask(*signature, absl::MakeSpan(views));
  if (!planned.ok()) return planned.status();
  const Plan plan = Recut(*planned, options.tile_size);
  const std::vector<abi::Scalar> attributes = AttributesOf(*signature, options);
  abi::BatchState batch{};
  alignas(16) static thread_local unsigned char scratch[abi::kScratchBytes];
  for (std::uint32_t tile = plan.tiles; tile-- > 0;) {
    HostTable()[signature - all.begin()](
        Call{.views = views.data(),
             .bindings = bindings.data(),
             .attributes = attributes.data(),
             .batch = &batch,
             .scratch = scratch,
             .tile_size = plan.tile_size,
             .tile = tile,
             .tiles = plan.tiles,
             .view_count = static_cast<std::uint32_t>(views.size()),
             .task = 7});
  }
  if (batch.error == 0) return absl::OkStatus();
  return absl::AbortedError(
      absl::StrCat("code ", batch.error >> 32, ", task ", batch.error & 0xffffffff));
}

abi::Scalar Int(std::int64_t value) {
  abi::Scalar scalar{};
  scalar.i = value;
  return scalar;
}

abi::Scalar Float(double value) {
  abi::Scalar scalar{};
  scalar.f = value;
  return scalar;
}

}  // namespace gpuos::ops
