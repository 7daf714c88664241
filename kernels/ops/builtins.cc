#include "kernels/ops/builtins.h"

#include <utility>

#include "kernels/ops/builtin_list.h"
#include "kernels/ops/catalog.h"
#include "kernels/ops/families.inc"

namespace gpuos::ops {
namespace {

#define GPUOS_FUNCTION(name, id) gpuos_op_##id,
constexpr OperatorFunction kTable[] = {GPUOS_BUILTINS(GPUOS_FUNCTION)};
#undef GPUOS_FUNCTION

Signature Named(const char* name, Signature signature) {
  signature.name = name;
  return signature;
}

std::vector<Signature> MakeBuiltins() {
  std::vector<Signature> signatures;
#define GPUOS_SIGNATURE(name, id) signatures.push_back(Named(name, catalog::id()));
  GPUOS_BUILTINS(GPUOS_SIGNATURE)
#undef GPUOS_SIGNATURE
  return signatures;
}

}  // namespace

const std::vector<Signature>& Builtins() {
  static const auto& kBuiltins = *new std::vector<Signature>(MakeBuiltins());
  return kBuiltins;
}

const OperatorFunction* HostTable() { return kTable; }

}  // namespace gpuos::ops
