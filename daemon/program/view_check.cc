#include "daemon/program/view_check.h"

#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kernels/abi/dtype.h"
#include "kernels/abi/limits.h"

namespace gpuos::program {
namespace {

template <typename... Parts>
absl::Status Refuse(const OperandPath& path, const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(ToString(path), parts...));
}

absl::StatusOr<abi::DType> CheckDType(int number, const OperandPath& path) {
  if (number > 0 && number <= std::numeric_limits<std::uint8_t>::max()) {
    const auto dtype = static_cast<abi::DType>(number);
    if (abi::SizeOf(dtype) != 0) return dtype;
  }
  if (number == v1::DTYPE_UNSPECIFIED) {
    return Refuse(path, ".dtype is not set; give DTYPE_F32, DTYPE_I64 or DTYPE_BOOL");
  }
  return Refuse(path, ".dtype is ", number,
                ", which is no dtype of this daemon; give DTYPE_F32, DTYPE_I64 or DTYPE_BOOL");
}

absl::Status CheckNotNegative(const google::protobuf::RepeatedField<std::int64_t>& values,
                              absl::string_view name, const OperandPath& path) {
  for (int i = 0; i < values.size(); ++i) {
    if (values[i] < 0) {
      return Refuse(path, ".", name, "[", i, "] is ", values[i], "; ", name, " must be 0 or more");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckDims(const v1::View& view, const OperandPath& path) {
  if (view.sizes_size() > static_cast<int>(abi::kMaxDims)) {
    return Refuse(path, ".sizes has ", view.sizes_size(), " dimensions; at most ", abi::kMaxDims,
                  " are supported");
  }
  if (view.sizes_size() != view.strides_size()) {
    return Refuse(path, ".strides has ", view.strides_size(), " values for ", view.sizes_size(),
                  " sizes; give one stride for each size");
  }
  if (absl::Status status = CheckNotNegative(view.sizes(), "sizes", path); !status.ok()) {
    return status;
  }
  return CheckNotNegative(view.strides(), "strides", path);
}

// The product of all sizes. Refuses products of the sizes over 0 that exceed 63 bits.
absl::StatusOr<std::int64_t> CountElements(const v1::View& view, const OperandPath& path) {
  std::int64_t product = 1;
  bool empty = false;
  for (const std::int64_t size : view.sizes()) {
    if (size == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(product, size, &product)) {
      return Refuse(path, ".sizes multiply to more than 2^63 - 1 elements; give smaller sizes");
    }
  }
  return empty ? 0 : product;
}

// Bytes from element 0 to the end of the last element; false if that exceeds 64 bits.
bool ByteExtent(const abi::View& view, std::uint64_t& bytes) {
  std::uint64_t last = 0;
  for (std::uint32_t d = 0; d < view.dims; ++d) {
    std::uint64_t reach = 0;
    if (__builtin_mul_overflow(static_cast<std::uint64_t>(view.sizes[d] - 1),
                               static_cast<std::uint64_t>(view.strides[d]), &reach) ||
        __builtin_add_overflow(last, reach, &last)) {
      return false;
    }
  }
  const std::uint64_t element = abi::SizeOf(view.dtype);
  return !__builtin_mul_overflow(last, element, &bytes) &&
         !__builtin_add_overflow(bytes, element, &bytes);
}

absl::Status CheckInside(const abi::View& view, std::uint64_t slot_length,
                         const OperandPath& path) {
  if (view.elements == 0) return absl::OkStatus();
  std::uint64_t bytes = 0;
  if (!ByteExtent(view, bytes)) {
    return Refuse(path, ".sizes times .strides reach beyond 64 bits of bytes; the slot has ",
                  slot_length);
  }
  std::uint64_t end = 0;
  if (__builtin_add_overflow(view.offset, bytes, &end)) {
    return Refuse(path, ".offset is ", view.offset, " and the view spans ", bytes,
                  " bytes, together beyond 64 bits; the slot has ", slot_length);
  }
  if (end > slot_length) {
    return Refuse(path, " ends at byte ", end, " of slots[", view.slot, "], which has ",
                  slot_length, " bytes; make the view smaller or the slot longer");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<abi::View> CheckView(const v1::View& view,
                                    const google::protobuf::RepeatedPtrField<v1::Slot>& slots,
                                    const OperandPath& path) {
  if (view.slot() >= static_cast<std::uint32_t>(slots.size())) {
    return Refuse(path, ".slot is ", view.slot(), ", but the program has ", slots.size(),
                  " slots; slots are counted from 0");
  }
  const absl::StatusOr<abi::DType> dtype = CheckDType(view.dtype(), path);
  if (!dtype.ok()) return dtype.status();
  if (absl::Status status = CheckDims(view, path); !status.ok()) return status;
  const absl::StatusOr<std::int64_t> elements = CountElements(view, path);
  if (!elements.ok()) return elements.status();
  if (view.offset() % abi::SizeOf(*dtype) != 0) {
    return Refuse(path, ".offset is ", view.offset(), "; it must be a multiple of ",
                  abi::SizeOf(*dtype), ", the size of one element");
  }
  abi::View checked{};
  checked.slot = view.slot();
  checked.dtype = *dtype;
  checked.dims = static_cast<std::uint8_t>(view.sizes_size());
  checked.offset = view.offset();
  checked.elements = *elements;
  for (std::uint32_t d = 0; d < abi::kMaxDims; ++d) {
    const bool used = d < checked.dims;
    checked.sizes[d] = used ? view.sizes(static_cast<int>(d)) : 1;
    checked.strides[d] = used ? view.strides(static_cast<int>(d)) : 0;
  }
  const std::uint64_t slot_length = slots[static_cast<int>(view.slot())].length();
  if (absl::Status status = CheckInside(checked, slot_length, path); !status.ok()) return status;
  return checked;
}

absl::Status CheckWritable(const abi::View& view, const OperandPath& path) {
  if (view.elements == 0) return absl::OkStatus();
  for (std::uint32_t d = 0; d < view.dims; ++d) {
    if (view.strides[d] == 0 && view.sizes[d] > 1) {
      return Refuse(path, ".strides[", d, "] is 0 over a size of ", view.sizes[d],
                    " in an output; its elements must not lie on top of each other");
    }
  }
  return absl::OkStatus();
}

}  // namespace gpuos::program
