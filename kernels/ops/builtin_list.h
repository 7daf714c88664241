// The operators of the worker's image, in the order of its table. One list for the names, the
// host's table and the GPU's. To add one: its function in a family (*.inc), its signature in
// catalog.cc, its line here, its tests beside those of its family. New operators go to the end of
// their group; nothing outside relies on the order, but "nop" stays first so that zeroed memory is
// harmless.
#ifndef GPUOS_KERNELS_OPS_BUILTIN_LIST_H_
#define GPUOS_KERNELS_OPS_BUILTIN_LIST_H_

// X(name, id): `id` is the name with '_' for what C does not allow.
#define GPUOS_SHIPPED_BUILTINS(X) \
  X("nop", nop)                   \
  X("copy", copy)                 \
  X("fill", fill)                 \
  X("add", add)                   \
  X("sub", sub)                   \
  X("mul", mul)                   \
  X("div", div)                   \
  X("neg", neg)                   \
  X("maximum", maximum)           \
  X("minimum", minimum)           \
  X("relu", relu)                 \
  X("exp", exp)                   \
  X("log", log)                   \
  X("sqrt", sqrt)                 \
  X("tanh", tanh)                 \
  X("sigmoid", sigmoid)           \
  X("gelu", gelu)                 \
  X("eq", eq)                     \
  X("ne", ne)                     \
  X("lt", lt)                     \
  X("le", le)                     \
  X("gt", gt)                     \
  X("ge", ge)                     \
  X("where", where)               \
  X("matmul", matmul)             \
  X("sum", sum)                   \
  X("max", max)                   \
  X("argmax", argmax)             \
  X("softmax", softmax)

// Never in a shipped image: they fault, fail and wait on purpose.
#define GPUOS_TEST_BUILTINS(X)                \
  X("test.rendezvous", test_rendezvous)       \
  X("test.out_of_bounds", test_out_of_bounds) \
  X("test.fail", test_fail)                   \
  X("test.spin", test_spin)                   \
  X("test.trap", test_trap)

// Which operators a translation unit is about: both with GPUOS_WITH_TEST_BUILTINS, else the first.
#ifdef GPUOS_WITH_TEST_BUILTINS
#define GPUOS_BUILTINS(X)   \
  GPUOS_SHIPPED_BUILTINS(X) \
  GPUOS_TEST_BUILTINS(X)
#else
#define GPUOS_BUILTINS(X) GPUOS_SHIPPED_BUILTINS(X)
#endif

#endif  // GPUOS_KERNELS_OPS_BUILTIN_LIST_H_
