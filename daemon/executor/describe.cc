#include "daemon/executor/describe.h"

#include <cstddef>

#include "daemon/executor/counters.h"
#include "gpuos/v1/admin.pb.h"
#include "gpuos/v1/types.pb.h"
#include "kernels/abi/dtype.h"

namespace gpuos::executor {
namespace {

v1::Scalar DefaultOf(const ops::Attribute& attribute) {
  v1::Scalar scalar;
  switch (attribute.kind) {
    case ops::AttributeKind::kInt:
      scalar.set_i(attribute.default_value.i);
      break;
    case ops::AttributeKind::kFloat:
      scalar.set_f(attribute.default_value.f);
      break;
    case ops::AttributeKind::kBool:
      scalar.set_b(attribute.default_value.i != 0);
      break;
  }
  return scalar;
}

v1::ExecutorCounters Describe(const Counters& counters) {
  v1::ExecutorCounters message;
  message.set_worker_launches(counters.worker_launches);
  message.set_worker_parks(counters.worker_parks);
  message.set_worker_resident(counters.worker_resident);
  message.set_batches_admitted(counters.batches.admitted);
  message.set_batches_completed(counters.batches.completed);
  message.set_batches_failed(counters.batches.failed);
  message.set_tasks_completed(counters.batches.tasks_completed);
  message.set_batches_in_flight(counters.batches_in_flight);
  message.set_batches_queued(counters.batches_queued);
  message.set_sessions(counters.sessions);
  message.set_segments(counters.segments);
  message.set_segment_bytes(counters.segment_bytes);
  message.set_programs(counters.programs);
  message.set_arena_bytes_used(counters.arena_bytes_used);
  message.set_arena_bytes_total(counters.arena_bytes_total);
  message.set_releases_pending(counters.releases_pending);
  message.set_heartbeat_age_us(counters.heartbeat_age_us);
  return message;
}

v1::SessionCounters Describe(const SessionCounters& counters) {
  v1::SessionCounters message;
  message.set_session(counters.session);
  message.set_segments(counters.segments);
  message.set_segment_bytes(counters.segment_bytes);
  message.set_programs(counters.programs);
  message.set_batches_submitted(counters.batches_submitted);
  message.set_batches_completed(counters.batches_completed);
  return message;
}

}  // namespace

v1::DeviceInfo Describe(const device::Info& info) {
  v1::DeviceInfo message;
  message.set_name(info.name);
  message.set_uuid(info.uuid);
  message.set_model(info.model);
  message.set_memory_bytes(info.memory_bytes);
  return message;
}

v1::OperatorInfo Describe(const ops::Signature& signature) {
  v1::OperatorInfo message;
  message.set_name(signature.name);
  message.set_version(1);
  message.set_state(v1::OPERATOR_STATE_LIVE);
  message.set_summary(signature.summary);
  for (const ops::Operand& operand : signature.operands) {
    v1::OperandSignature* described = message.add_operands();
    described->set_name(operand.name);
    described->set_output(operand.access != ops::Access::kRead);
    for (const abi::DType dtype : operand.dtypes) {
      described->add_dtypes(static_cast<v1::DType>(dtype));
    }
  }
  for (const ops::Attribute& attribute : signature.attributes) {
    v1::AttributeSignature* described = message.add_attributes();
    described->set_name(attribute.name);
    *described->mutable_default_value() = DefaultOf(attribute);
  }
  message.set_shape_rule(ops::Describe(signature.rule));
  message.set_builtin(true);
  return message;
}

v1::StartResponse DescribeStart(const Core& core) {
  v1::StartResponse message;
  *message.mutable_device() = Describe(core.device_info());
  message.set_sharing(core.device_info().sharing);
  message.set_remark(core.device_info().remark);
  for (const ops::Signature& signature : core.catalog()) {
    *message.add_operators() = Describe(signature);
  }
  return message;
}

v1::StatusResponse DescribeStatus(Core& core, Time now) {
  v1::StatusResponse message;
  *message.mutable_counters() = Describe(core.counters(now));
  for (const SessionCounters& session : core.session_counters()) {
    *message.add_sessions() = Describe(session);
  }
  for (std::size_t op = 0; op < core.catalog().size(); ++op) {
    const std::uint64_t calls = core.operator_calls()[op];
    if (calls > 0) (*message.mutable_operator_calls())[core.catalog()[op].name] = calls;
  }
  return message;
}

}  // namespace gpuos::executor
