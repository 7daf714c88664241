// What the executor tells of itself, as messages. Pure translation.
#ifndef GPUOS_DAEMON_EXECUTOR_DESCRIBE_H_
#define GPUOS_DAEMON_EXECUTOR_DESCRIBE_H_

#include "daemon/device/device.h"
#include "daemon/executor/clock.h"
#include "daemon/executor/core.h"
#include "gpuos/v1/control.pb.h"
#include "gpuos/v1/executor.pb.h"
#include "gpuos/v1/operators.pb.h"
#include "kernels/ops/signature.h"

namespace gpuos::executor {

v1::DeviceInfo Describe(const device::Info& info);

// Live, built in, version 1, no calls yet.
v1::OperatorInfo Describe(const ops::Signature& signature);

v1::StartResponse DescribeStart(const Core& core);

// Counters of everything at `now`.
v1::StatusResponse DescribeStatus(Core& core, Time now);

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_DESCRIBE_H_
