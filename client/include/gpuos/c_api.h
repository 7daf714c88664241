/* The C ABI of libgpuos.so, for other languages. C++ programs use gpuos/client.h.
 *
 * Every function that returns int returns 0 or a google.rpc.Code (3 INVALID_ARGUMENT, 4
 * DEADLINE_EXCEEDED, 5 NOT_FOUND, 7 PERMISSION_DENIED, 8 RESOURCE_EXHAUSTED, 9 FAILED_PRECONDITION,
 * 10 ABORTED, 12 UNIMPLEMENTED, 13 INTERNAL, 14 UNAVAILABLE, ...). On failure gpuos_last_error() of
 * the same thread is the sentence, and output parameters are untouched.
 *
 * Thread-safe: any function on any session from any thread, except that gpuos_close must come last.
 * In a forked child every call on a session fails with FAILED_PRECONDITION, and so does
 * gpuos_connect if the parent had connected before it forked: start such processes by exec. Structs
 * are plain, little endian, and only grow at the end. Strings are UTF-8, borrowed for the call. */
#ifndef GPUOS_C_API_H_
#define GPUOS_C_API_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPUOS_EXPORT __attribute__((visibility("default")))
#define GPUOS_MAX_DIMS 8

typedef struct gpuos_session gpuos_session;
typedef struct gpuos_program_builder gpuos_program_builder;

/* "major.minor.patch" of the library. */
GPUOS_EXPORT const char* gpuos_version(void);
/* The sentence of this thread's last failure; "" before the first. Valid until the next call. */
GPUOS_EXPORT const char* gpuos_last_error(void);

/* Opens a session. target: "unix:///path" or a path; NULL or "" means $GPUOS_TARGET, else the
 * well-known socket. device: "host:0", "cuda:0", ..., NULL or "" for the daemon's first.
 * client_name is shown by `gpuosctl clients`. Blocks until the session is open, at most timeout_us
 * (<= 0: 10 s). UNAVAILABLE names the address, the cause and what to do. */
GPUOS_EXPORT int gpuos_connect(const char* target, const char* device, const char* client_name,
                               int64_t timeout_us, gpuos_session** session);
/* Ends the session and frees it; mappings made by gpuos_segment_create stay valid until
 * gpuos_segment_unmap. Blocks until the daemon has let the segments go. NULL is allowed. */
GPUOS_EXPORT void gpuos_close(gpuos_session* session);
/* Borrowed, valid until gpuos_close. */
GPUOS_EXPORT const char* gpuos_session_device_name(const gpuos_session* session);
GPUOS_EXPORT const char* gpuos_session_device_uuid(const gpuos_session* session);
GPUOS_EXPORT uint64_t gpuos_session_id(const gpuos_session* session);

/* Host devices: makes a sealed memory file of at least `size` bytes, zeroed, mapped here at
 * *address (readable and writable) and in the executor. *mapped_size is the size after rounding. */
GPUOS_EXPORT int gpuos_segment_create(gpuos_session* session, uint64_t size, uint64_t* segment,
                                      void** address, uint64_t* mapped_size);
/* Unmaps what gpuos_segment_create mapped; needs no session. */
GPUOS_EXPORT int gpuos_segment_unmap(void* address, uint64_t mapped_size);
/* Host devices: registers a memory file with F_SEAL_SHRINK. The caller keeps the descriptor. */
GPUOS_EXPORT int gpuos_segment_register_fd(gpuos_session* session, int descriptor,
                                           uint64_t* segment, uint64_t* size);
/* CUDA devices: registers a whole allocation by its 64-byte handle of cuIpcGetMemHandle. */
GPUOS_EXPORT int gpuos_segment_register_cuda_ipc(gpuos_session* session, const void* handle,
                                                 const char* device_uuid, uint64_t* segment,
                                                 uint64_t* size);
/* CUDA devices: registers the allocation around a device pointer of this process, once however
 * often it is asked (known by its buffer id), and says where in it the pointer lies. */
GPUOS_EXPORT int gpuos_segment_register_cuda_pointer(gpuos_session* session, uint64_t pointer,
                                                     uint64_t* segment, uint64_t* offset,
                                                     uint64_t* size);
/* Detaches; returns when the executor has let the memory go. */
GPUOS_EXPORT int gpuos_segment_release(gpuos_session* session, uint64_t segment);

/* dtype: 1 f32, 2 i64, 3 bool. Offsets in bytes, sizes and strides in elements. */
typedef struct gpuos_view {
  uint32_t slot;
  uint32_t dtype;
  uint64_t offset;
  uint32_t dims;
  uint32_t reserved;
  int64_t sizes[GPUOS_MAX_DIMS];
  int64_t strides[GPUOS_MAX_DIMS];
} gpuos_view;

/* kind: 1 integer (i), 2 floating (f), 3 bool (i is 0 or 1). */
typedef struct gpuos_attribute {
  const char* name;
  uint32_t kind;
  uint32_t reserved;
  int64_t i;
  double f;
} gpuos_attribute;

typedef struct gpuos_binding {
  uint64_t segment;
  uint64_t offset; /* bytes */
} gpuos_binding;

/* A program being written down. One thread at a time. Nothing is checked before
 * gpuos_program_create. */
GPUOS_EXPORT gpuos_program_builder* gpuos_program_builder_new(void);
GPUOS_EXPORT void gpuos_program_builder_free(gpuos_program_builder* builder);
/* Returns the slot's index. */
GPUOS_EXPORT uint32_t gpuos_program_add_slot(gpuos_program_builder* builder, uint64_t length);
/* Outputs first, then inputs. `after`: indices of tasks that must finish first. Returns the task's
 * index. */
GPUOS_EXPORT uint32_t gpuos_program_add_task(gpuos_program_builder* builder, const char* op,
                                             const gpuos_view* views, uint32_t view_count,
                                             const gpuos_attribute* attributes,
                                             uint32_t attribute_count, const uint32_t* after,
                                             uint32_t after_count);
/* Sends it; the same program again gives the same id without asking the daemon. */
GPUOS_EXPORT int gpuos_program_create(gpuos_session* session, const gpuos_program_builder* builder,
                                      uint64_t* program);
GPUOS_EXPORT int gpuos_program_release(gpuos_session* session, uint64_t program);

/* Submits one batch. wait != 0: returns when it is done, with its error if it failed. */
GPUOS_EXPORT int gpuos_submit(gpuos_session* session, uint64_t program,
                              const gpuos_binding* bindings, uint32_t binding_count, int wait,
                              uint64_t* value);
/* Waits until batches 1 .. value are done; DEADLINE_EXCEEDED after timeout_us (< 0: no limit). */
GPUOS_EXPORT int gpuos_wait(gpuos_session* session, uint64_t value, int64_t timeout_us);

/* What the daemon says, as JSON: "status", "devices", "clients", "operators", "operator" (with
 * `name`). Fields are named as in proto/gpuos/v1 (GetStatusResponse, ListDevicesResponse,
 * ListClientsResponse, ListOperatorsResponse, OperatorInfo), numbers are JSON numbers, enums are
 * their names. Free with gpuos_free. Needs no session. */
GPUOS_EXPORT int gpuos_query_json(const char* target, const char* what, const char* name,
                                  char** json);
GPUOS_EXPORT void gpuos_free(void* memory);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* GPUOS_C_API_H_ */
