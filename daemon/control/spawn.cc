#include "daemon/control/spawn.h"

#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace gpuos::control {
namespace {

int SetAttributes(posix_spawnattr_t* attributes) {
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(attributes, &none);
  posix_spawnattr_setsigdefault(attributes, &all);
  posix_spawnattr_setpgroup(attributes, 0);
  return posix_spawnattr_setflags(
      attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

int SetFiles(const SpawnRequest& request, posix_spawn_file_actions_t* files) {
  int error = 0;
  if (request.descriptor3 >= 0) {
    error = posix_spawn_file_actions_adddup2(files, request.descriptor3, 3);
  }
  if (error == 0 && request.standard_output >= 0) {
    error = posix_spawn_file_actions_adddup2(files, request.standard_output, STDOUT_FILENO);
  }
  if (error != 0) return error;
  return posix_spawn_file_actions_addclosefrom_np(files, request.descriptor3 >= 0 ? 4 : 3);
}

}  // namespace

absl::StatusOr<pid_t> Spawn(const SpawnRequest& request) {
  std::vector<char*> arguments = {const_cast<char*>(request.program.c_str())};
  for (const std::string& argument : request.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);

  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t files;
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_init(&files);
  absl::Cleanup destroy = [&] {
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
  };
  int error = SetAttributes(&attributes);
  if (error == 0) error = SetFiles(request, &files);
  pid_t pid = -1;
  if (error == 0) {
    error =
        posix_spawn(&pid, request.program.c_str(), &files, &attributes, arguments.data(), environ);
  }
  if (error == 0) return pid;
  return absl::ErrnoToStatus(error, absl::StrCat("cannot start ", request.program));
}

}  // namespace gpuos::control
