#include "daemon/control/operators_service.h"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/control/closest_names.h"
#include "daemon/control/device_reports.h"
#include "daemon/control/unary_call.h"

namespace gpuos::control {
namespace {

constexpr std::size_t kSuggestions = 3;

// By name, calls summed over devices.
using OperatorMap = std::map<std::string, v1::OperatorInfo>;

OperatorMap Merge(const Devices& devices, const std::vector<DeviceReport>& reports) {
  OperatorMap merged;
  for (const auto& device : devices.all()) {
    for (const v1::OperatorInfo& info : device->operators()) merged.emplace(info.name(), info);
  }
  for (auto& [name, info] : merged) {
    info.set_calls(0);
    for (const DeviceReport& report : reports) {
      auto calls = report.response.operator_calls().find(name);
      if (calls == report.response.operator_calls().end()) continue;
      info.set_calls(info.calls() + calls->second);
    }
  }
  return merged;
}

absl::StatusOr<v1::GetOperatorResponse> Find(const OperatorMap& operators,
                                             const std::string& name) {
  auto found = operators.find(name);
  if (found != operators.end()) {
    v1::GetOperatorResponse response;
    *response.mutable_operator_() = found->second;
    return response;
  }
  std::vector<std::string> names;
  for (const auto& [known, info] : operators) names.push_back(known);
  return absl::NotFoundError(
      absl::StrCat("operator \"", name.substr(0, 128), "\" is not known; the closest names are ",
                   absl::StrJoin(ClosestNames(name, names, kSuggestions), ", ")));
}

}  // namespace

grpc::ServerUnaryReactor* OperatorsService::ListOperators(
    grpc::CallbackServerContext* /*context*/, const v1::ListOperatorsRequest* /*request*/,
    v1::ListOperatorsResponse* response) {
  return Serve(response, [&](const std::shared_ptr<UnaryCall<v1::ListOperatorsResponse>>& call) {
    GatherReports(*devices_, later_, [this, call](const std::vector<DeviceReport>& reports) {
      v1::ListOperatorsResponse answer;
      for (auto& [name, info] : Merge(*devices_, reports)) *answer.add_operators() = info;
      call->Finish(std::move(answer));
    });
  });
}

grpc::ServerUnaryReactor* OperatorsService::GetOperator(grpc::CallbackServerContext* /*context*/,
                                                        const v1::GetOperatorRequest* request,
                                                        v1::GetOperatorResponse* response) {
  return Serve(response, [&](const std::shared_ptr<UnaryCall<v1::GetOperatorResponse>>& call) {
    GatherReports(*devices_, later_,
                  [this, call, name = request->name()](const std::vector<DeviceReport>& reports) {
                    call->Finish(Find(Merge(*devices_, reports), name));
                  });
  });
}

}  // namespace gpuos::control
