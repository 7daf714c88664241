// How tests watch and steer the fake CUDA driver. Exported by the fake library beside the driver's
// own names; find them with dlsym on the handle of the same path.
//
// The fake is chosen by environment variables where a test has no hand on the process:
//   GPUOS_FAKE_DEVICES (1), GPUOS_FAKE_MULTIPROCESSORS (4, also the blocks of a launch),
//   GPUOS_FAKE_MPS (0), GPUOS_FAKE_DRIVER_VERSION (13000),
//   GPUOS_FAKE_SYNCHRONOUS (0; 1: a launch returns when it has ended, as under compute-sanitizer).
#ifndef GPUOS_DAEMON_DEVICE_CUDA_FAKE_CONTROL_H_
#define GPUOS_DAEMON_DEVICE_CUDA_FAKE_CONTROL_H_

extern "C" {

// Forgets calls, violations and planned failures; objects stay. Thread-safe, as all below.
void gpuos_fake_reset(void);

// Calls of the entry point `name` ("cuMemAlloc") since the last reset; all calls for "".
unsigned long gpuos_fake_calls(const char* name);

// Name of the `index`-th call since the last reset, or null past the end.
const char* gpuos_fake_call(unsigned long index);

// Calls that would have blocked until the worker ended. They failed with CUDA_ERROR_NOT_PERMITTED.
unsigned long gpuos_fake_violations(void);

// The `index`-th violation in words, or null past the end. Lives until the next reset.
const char* gpuos_fake_violation(unsigned long index);

// Makes the `nth` call of `name` from now on (1: the next) fail with CUresult `error`, without
// effect. After an error that loses the context (CUDA_ERROR_ILLEGAL_ADDRESS,
// CUDA_ERROR_LAUNCH_FAILED) every later call fails with it, as on a GPU, until reset.
void gpuos_fake_fail(const char* name, unsigned long nth, int error);

// Objects that were made and not given back: allocations, imported handles, streams, events,
// modules and retained contexts.
unsigned long gpuos_fake_live_objects(void);

}  // extern "C"

#endif  // GPUOS_DAEMON_DEVICE_CUDA_FAKE_CONTROL_H_
