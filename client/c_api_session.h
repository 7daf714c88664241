// What a gpuos_session of the C ABI is.
#ifndef GPUOS_CLIENT_C_API_SESSION_H_
#define GPUOS_CLIENT_C_API_SESSION_H_

#include <memory>

#include "gpuos/c_api.h"
#include "gpuos/session.h"

// Owns the session; made by gpuos_connect, deleted by gpuos_close. As thread-safe as Session.
struct gpuos_session {
  std::unique_ptr<gpuos::Session> session;
};

#endif  // GPUOS_CLIENT_C_API_SESSION_H_
