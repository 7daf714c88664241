#include "kernels/ops/catalog.h"

#include <utility>

namespace gpuos::ops::catalog {
namespace {

using DTypes = std::vector<abi::DType>;

const DTypes& Floats() {
  static const auto& kTypes = *new DTypes{abi::DType::kF32};
  return kTypes;
}
const DTypes& Integers() {
  static const auto& kTypes = *new DTypes{abi::DType::kI64};
  return kTypes;
}
const DTypes& Bools() {
  static const auto& kTypes = *new DTypes{abi::DType::kBool};
  return kTypes;
}
const DTypes& Numbers() {
  static const auto& kTypes = *new DTypes{abi::DType::kF32, abi::DType::kI64};
  return kTypes;
}
const DTypes& Any() {
  static const auto& kTypes = *new DTypes{abi::DType::kF32, abi::DType::kI64, abi::DType::kBool};
  return kTypes;
}

Operand Out(const DTypes& dtypes) { return {"out", Access::kWrite, dtypes}; }
Operand In(std::string name, const DTypes& dtypes) {
  return {std::move(name), Access::kRead, dtypes};
}

Signature Make(std::string summary, ShapeRule rule, std::vector<Operand> operands) {
  Signature signature;
  signature.summary = std::move(summary);
  signature.rule = rule;
  signature.operands = std::move(operands);
  return signature;
}

Signature Unary(std::string summary, const DTypes& dtypes) {
  return Make(std::move(summary), ShapeRule::kElementwise, {Out(dtypes), In("a", dtypes)});
}
Signature Binary(std::string summary, const DTypes& dtypes) {
  return Make(std::move(summary), ShapeRule::kElementwise,
              {Out(dtypes), In("a", dtypes), In("b", dtypes)});
}
Signature Comparison(std::string summary) {
  return Make(std::move(summary), ShapeRule::kElementwise,
              {Out(Bools()), In("a", Any()), In("b", Any())});
}

Attribute FloatAttribute(std::string name, double value) {
  Attribute attribute{std::move(name), AttributeKind::kFloat, {}};
  attribute.default_value.f = value;
  return attribute;
}
Attribute IntAttribute(std::string name, std::int64_t value) {
  Attribute attribute{std::move(name), AttributeKind::kInt, {}};
  attribute.default_value.i = value;
  return attribute;
}
Attribute BoolAttribute(std::string name, bool value) {
  Attribute attribute{std::move(name), AttributeKind::kBool, {}};
  attribute.default_value.i = value ? 1 : 0;
  return attribute;
}

}  // namespace

Signature nop() { return Make("Does nothing.", ShapeRule::kUnconstrained, {}); }

Signature copy() {
  Signature signature = Make(
      "out = a, converted to out's dtype: to F32 rounds to nearest; to I64 truncates, what does "
      "not "
      "fit becomes the nearest integer there is and NaN the smallest; to BOOL all but 0 is true.",
      ShapeRule::kElementwise, {Out(Any()), In("a", Any())});
  signature.dtypes = DTypeRule::kFree;
  return signature;
}

Signature fill() {
  Signature signature = Make(
      "out = value, converted to out's dtype as copy does; in I64 outputs integer is added, for "
      "numbers that a float cannot hold.",
      ShapeRule::kElementwise, {Out(Any())});
  signature.attributes = {FloatAttribute("value", 0), IntAttribute("integer", 0)};
  return signature;
}

Signature add() { return Binary("out = a + b; integers wrap.", Numbers()); }
Signature sub() { return Binary("out = a - b; integers wrap.", Numbers()); }
Signature mul() { return Binary("out = a * b; integers wrap.", Numbers()); }
Signature div() { return Binary("out = a / b.", Floats()); }
Signature neg() { return Unary("out = -a; integers wrap.", Numbers()); }
Signature maximum() { return Binary("The greater of a and b; NaN if either is.", Numbers()); }
Signature minimum() { return Binary("The smaller of a and b; NaN if either is.", Numbers()); }

Signature relu() { return Unary("a where it is positive, else 0; NaN stays NaN.", Floats()); }
Signature exp() { return Unary("e to the power of a.", Floats()); }
Signature log() { return Unary("The natural logarithm of a.", Floats()); }
Signature sqrt() { return Unary("The square root of a.", Floats()); }
Signature tanh() { return Unary("The hyperbolic tangent of a.", Floats()); }
Signature sigmoid() { return Unary("1 / (1 + exp(-a)).", Floats()); }

Signature gelu() {
  Signature signature = Unary(
      "a times the normal distribution's probability of less than a; with tanh, by its usual "
      "approximation.",
      Floats());
  signature.attributes = {BoolAttribute("tanh", false)};
  return signature;
}

Signature eq() { return Comparison("Whether a equals b; NaN equals nothing."); }
Signature ne() { return Comparison("Whether a differs from b; NaN differs from everything."); }
Signature lt() { return Comparison("Whether a is less than b."); }
Signature le() { return Comparison("Whether a is less than or equal to b."); }
Signature gt() { return Comparison("Whether a is greater than b."); }
Signature ge() { return Comparison("Whether a is greater than or equal to b."); }

Signature where() {
  return Make("a where condition is true, else b.", ShapeRule::kElementwise,
              {Out(Any()), In("condition", Bools()), In("a", Any()), In("b", Any())});
}

Signature matmul() {
  return Make("The matrix product of a and b, of any strides; sums in ascending order of k.",
              ShapeRule::kMatmul, {Out(Floats()), In("a", Floats()), In("b", Floats())});
}

Signature sum() {
  Signature signature =
      Make("Sums over the last dimension; of BOOL, how many are true; of nothing, 0.",
           ShapeRule::kReduceLast, {Out(Numbers()), In("a", Any())});
  signature.dtypes = DTypeRule::kAccumulate;
  return signature;
}

Signature max() {
  Signature signature = Make("The greatest element over the last dimension; NaN if one is.",
                             ShapeRule::kReduceLast, {Out(Numbers()), In("a", Numbers())});
  signature.needs_columns = true;
  return signature;
}

Signature argmax() {
  Signature signature = Make(
      "Where the greatest element of the last dimension is; the first of equals, NaN is greatest.",
      ShapeRule::kReduceLast, {Out(Integers()), In("a", Numbers())});
  signature.needs_columns = true;
  return signature;
}

Signature softmax() {
  return Make("exp(a) over its sum, along the last dimension; a row of -inf alone gives NaN.",
              ShapeRule::kRowwise, {Out(Floats()), In("a", Floats())});
}

Signature test_rendezvous() {
  Signature signature =
      Make("Sets flags[mine], waits for flags[other] and says whether it was set in time.",
           ShapeRule::kUnconstrained, {Out(Bools()), {"flags", Access::kAtomic, Integers()}});
  signature.attributes = {IntAttribute("mine", 0), IntAttribute("other", 1),
                          IntAttribute("timeout_ms", 1000)};
  return signature;
}

Signature test_out_of_bounds() {
  Signature signature = Make("Writes one byte `bytes` beyond the end of its contiguous output.",
                             ShapeRule::kUnconstrained, {Out(Floats())});
  signature.attributes = {IntAttribute("bytes", 0)};
  return signature;
}

Signature test_fail() {
  Signature signature = Make("Fails with `code`.", ShapeRule::kUnconstrained, {});
  signature.attributes = {IntAttribute("code", 1)};
  return signature;
}

Signature test_spin() {
  Signature signature = Make("Keeps its block busy for `ms` milliseconds, a minute at most.",
                             ShapeRule::kUnconstrained, {});
  signature.attributes = {IntAttribute("ms", 1)};
  return signature;
}

Signature test_trap() {
  return Make("Faults as a wild program does.", ShapeRule::kUnconstrained, {});
}

}  // namespace gpuos::ops::catalog
