#include "kernels/ops/signature.h"

namespace gpuos::ops {

std::uint32_t Signature::outputs() const {
  std::uint32_t count = 0;
  while (count < operands.size() && operands[count].access != Access::kRead) ++count;
  return count;
}

std::string Describe(ShapeRule rule) {
  switch (rule) {
    case ShapeRule::kElementwise:
      return "The inputs broadcast to the output's shape.";
    case ShapeRule::kReduceLast:
      return "The output has the input's shape without its last dimension.";
    case ShapeRule::kRowwise:
      return "The output has the input's shape; each row (last dimension) is computed alone.";
    case ShapeRule::kMatmul:
      return "(m, k) x (k, n) gives (m, n); each operand has 2 dimensions.";
    case ShapeRule::kUnconstrained:
      return "Any shapes.";
  }
  return "";
}

}  // namespace gpuos::ops
