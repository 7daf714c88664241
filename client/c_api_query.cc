// What the daemon says about itself, as JSON, for other languages.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/c_api_error.h"
#include "client/internal/json.h"
#include "gpuos/admin.h"
#include "gpuos/c_api.h"

using gpuos::internal::Guarded;
using gpuos::internal::MustNotBeNull;

namespace {

template <typename Message>
absl::StatusOr<std::string> Json(const absl::StatusOr<Message>& answer) {
  if (!answer.ok()) return answer.status();
  return gpuos::internal::ToJson(*answer);
}

absl::StatusOr<std::string> Ask(gpuos::Admin& admin, const std::string& what, const char* name) {
  if (what == "status") return Json(admin.GetStatus());
  if (what == "devices") return Json(admin.ListDevices());
  if (what == "clients") return Json(admin.ListClients());
  if (what == "operators") return Json(admin.ListOperators());
  if (what != "operator") {
    return absl::InvalidArgumentError(absl::StrCat(
        "what is \"", what, "\": it must be status, devices, clients, operators or operator"));
  }
  if (name == nullptr) return MustNotBeNull("name");
  return Json(admin.GetOperator(name));
}

// Memory that gpuos_free takes.
char* CopyOut(const std::string& text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace

int gpuos_query_json(const char* target, const char* what, const char* name, char** json) {
  return Guarded([&]() -> absl::Status {
    if (what == nullptr) return MustNotBeNull("what");
    if (json == nullptr) return MustNotBeNull("json");
    gpuos::Admin::Options options;
    if (target != nullptr) options.target = target;
    auto admin = gpuos::Admin::Connect(std::move(options));
    if (!admin.ok()) return admin.status();
    const absl::StatusOr<std::string> answer = Ask(**admin, what, name);
    if (!answer.ok()) return answer.status();
    *json = CopyOut(*answer);
    return absl::OkStatus();
  });
}

void gpuos_free(void* memory) { std::free(memory); }
