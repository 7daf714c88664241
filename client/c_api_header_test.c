/* c_api.h is C, and its structs are what other languages write down by hand. */
#include "gpuos/c_api.h"
#include "gpuos/c_api.h" /* may be included twice */

_Static_assert(GPUOS_MAX_DIMS == 8, "dimensions of a view");
_Static_assert(sizeof(gpuos_view) == 152, "size of gpuos_view");
_Static_assert(offsetof(gpuos_view, offset) == 8, "gpuos_view.offset");
_Static_assert(offsetof(gpuos_view, dims) == 16, "gpuos_view.dims");
_Static_assert(offsetof(gpuos_view, sizes) == 24, "gpuos_view.sizes");
_Static_assert(offsetof(gpuos_view, strides) == 88, "gpuos_view.strides");
_Static_assert(sizeof(gpuos_attribute) == 32, "size of gpuos_attribute");
_Static_assert(offsetof(gpuos_attribute, kind) == 8, "gpuos_attribute.kind");
_Static_assert(offsetof(gpuos_attribute, i) == 16, "gpuos_attribute.i");
_Static_assert(offsetof(gpuos_attribute, f) == 24, "gpuos_attribute.f");
_Static_assert(sizeof(gpuos_binding) == 16, "size of gpuos_binding");
_Static_assert(offsetof(gpuos_binding, offset) == 8, "gpuos_binding.offset");

/* A C program that links the C ABI. */
int main(void) {
  gpuos_session* session = NULL;
  const int code = gpuos_connect("/nowhere/gpuosd.sock", NULL, NULL, 0, &session);
  return code == 14 && session == NULL && gpuos_last_error()[0] != '\0' ? 0 : 1;
}
