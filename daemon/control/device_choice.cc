#include "daemon/control/device_choice.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"

namespace gpuos::control {
namespace {

constexpr char kHost[] = "host:0";

// Empty if it is not there, or not a text.
std::string TextOf(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string NamesOf(const std::vector<v1::DeviceInfo>& devices) {
  return absl::StrJoin(devices, ", ", [](std::string* out, const v1::DeviceInfo& device) {
    out->append(device.name());
  });
}

const v1::DeviceInfo* FindByName(const std::vector<v1::DeviceInfo>& devices,
                                 const std::string& name) {
  auto found = std::find_if(devices.begin(), devices.end(),
                            [&](const v1::DeviceInfo& device) { return device.name() == name; });
  return found == devices.end() ? nullptr : &*found;
}

absl::StatusOr<DeviceChoice> ChooseAuto(const FoundDevices& found) {
  DeviceChoice choice;
  for (const v1::DeviceInfo& device : found.devices) {
    if (absl::StartsWith(device.name(), "cuda:")) choice.devices.push_back(device);
  }
  if (!choice.devices.empty()) {
    choice.reason = "every CUDA device of the driver";
    return choice;
  }
  const v1::DeviceInfo* host = FindByName(found.devices, kHost);
  if (host == nullptr) return absl::NotFoundError("the executor lists no device, not even host:0");
  choice.devices.push_back(*host);
  choice.reason = found.no_cuda.empty() ? "no CUDA device was found" : found.no_cuda;
  return choice;
}

}  // namespace

absl::StatusOr<FoundDevices> ParseDeviceList(const std::string& output) {
  FoundDevices found;
  for (absl::string_view line : absl::StrSplit(output, '\n', absl::SkipWhitespace())) {
    const nlohmann::json json =
        nlohmann::json::parse(line.begin(), line.end(), nullptr, /*allow_exceptions=*/false);
    if (!json.is_object() || !json.contains("name") || !json["name"].is_string()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the executor's list of devices has a line that is not one: ", line));
    }
    v1::DeviceInfo device;
    device.set_name(json["name"].get<std::string>());
    device.set_uuid(TextOf(json, "uuid"));
    device.set_model(TextOf(json, "model"));
    if (json.contains("memory_bytes") && json["memory_bytes"].is_number_unsigned()) {
      device.set_memory_bytes(json["memory_bytes"].get<std::uint64_t>());
    }
    if (device.name() == kHost) found.no_cuda = TextOf(json, "remark");
    found.devices.push_back(std::move(device));
  }
  return found;
}

absl::StatusOr<DeviceChoice> ChooseDevices(const std::string& wanted, const FoundDevices& found) {
  if (wanted == "auto") return ChooseAuto(found);
  DeviceChoice choice;
  choice.reason = absl::StrCat("--device=", wanted);
  for (absl::string_view part : absl::StrSplit(wanted, ',')) {
    const std::string name = part == "host" ? kHost : std::string(part);
    const v1::DeviceInfo* device = FindByName(found.devices, name);
    if (device == nullptr) {
      return absl::NotFoundError(
          absl::StrCat("--device names \"", name, "\", which this machine does not have; it has ",
                       NamesOf(found.devices), found.no_cuda.empty() ? "" : " (", found.no_cuda,
                       found.no_cuda.empty() ? "" : ")"));
    }
    if (FindByName(choice.devices, name) != nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("--device names \"", name, "\" twice; name each once"));
    }
    choice.devices.push_back(*device);
  }
  return choice;
}

}  // namespace gpuos::control
