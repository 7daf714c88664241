// All of libgpuos for C++ programs. client/examples/add.cc is a whole program that uses it.
//
//   absl::StatusOr<std::unique_ptr<gpuos::Session>> session = gpuos::Session::Connect({});
//   gpuos/session.h   Session: connect, share memory, create programs, submit, wait
//   gpuos/program.h   ProgramBuilder, View: write operations down
//   gpuos/segment.h   Segment, Mapping: memory that both sides see
//   gpuos/admin.h     Admin: what gpuosctl shows
//
// Errors are absl::Status with a sentence; nothing throws, prints or exits. Other languages use the
// C ABI of gpuos/c_api.h.
#ifndef GPUOS_CLIENT_H_
#define GPUOS_CLIENT_H_

#include "gpuos/admin.h"
#include "gpuos/program.h"
#include "gpuos/segment.h"
#include "gpuos/session.h"

#endif  // GPUOS_CLIENT_H_
