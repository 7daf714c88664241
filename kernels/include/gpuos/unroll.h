// Whether nvcc unrolls the loop that follows. Host compilers decide for themselves.
#ifndef GPUOS_UNROLL_H_
#define GPUOS_UNROLL_H_

#ifdef __CUDACC__
#define GPUOS_UNROLL _Pragma("unroll")
// So many copies of the body, a number.
#define GPUOS_UNROLL_BY(count) GPUOS_UNROLL_TEXT(unroll count)
#define GPUOS_UNROLL_TEXT(text) _Pragma(#text)
// For loops with long bodies: copies of them would cost registers and instruction cache.
#define GPUOS_NO_UNROLL _Pragma("unroll 1")
#else
#define GPUOS_UNROLL
#define GPUOS_UNROLL_BY(count)
#define GPUOS_NO_UNROLL
#endif

#endif  // GPUOS_UNROLL_H_
