// libgpuos.so as other programs load it: what it shows, and that it lives beside other copies of
// gRPC and Protobuf.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "client/testing/fake_daemon.h"
#include "gpuos/c_api.h"

namespace gpuos {
namespace {

using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kLibrary[] = "client/libgpuos.so";
// The system's, as a program that uses them has them loaded.
constexpr const char* kSystemLibraries[] = {"libprotobuf.so.32", "libgrpc.so.29",
                                            "libgrpc++.so.1.51"};

// Global symbols of the dynamic symbol table.
std::vector<std::string> ExportedSymbols() {
  std::vector<std::string> names;
  FILE* const nm = ::popen((std::string("nm -D --defined-only ") + kLibrary).c_str(), "r");
  char line[4096];
  while (::fgets(line, sizeof(line), nm) != nullptr) {
    std::string address;
    std::string type;
    std::string name;
    std::istringstream(line) >> address >> type >> name;
    // Lower case is local to the library, but unique (u) and weak (v, w) symbols are not.
    if (type.find_first_not_of("abcdefghijklmnopqrst") != std::string::npos) names.push_back(name);
  }
  EXPECT_EQ(::pclose(nm), 0);
  return names;
}

std::size_t Threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

template <typename Function>
Function* Symbol(void* library, const char* name, Function*) {
  auto* const found = reinterpret_cast<Function*>(::dlsym(library, name));
  EXPECT_NE(found, nullptr) << name;
  return found;
}

TEST(LibgpuosTest, ShowsTheCAbiAlone) {
  const std::vector<std::string> names = ExportedSymbols();
  EXPECT_THAT(names, ::testing::Each(StartsWith("gpuos_")));
  EXPECT_THAT(names, IsSupersetOf({"gpuos_version",
                                   "gpuos_last_error",
                                   "gpuos_connect",
                                   "gpuos_close",
                                   "gpuos_session_device_name",
                                   "gpuos_session_device_uuid",
                                   "gpuos_session_id",
                                   "gpuos_segment_create",
                                   "gpuos_segment_unmap",
                                   "gpuos_segment_register_fd",
                                   "gpuos_segment_register_cuda_ipc",
                                   "gpuos_segment_register_cuda_pointer",
                                   "gpuos_segment_release",
                                   "gpuos_program_builder_new",
                                   "gpuos_program_builder_free",
                                   "gpuos_program_add_slot",
                                   "gpuos_program_add_task",
                                   "gpuos_program_create",
                                   "gpuos_program_release",
                                   "gpuos_submit",
                                   "gpuos_wait",
                                   "gpuos_query_json",
                                   "gpuos_free"}));
}

TEST(LibgpuosTest, WorksBesideTheSystemsGrpcAndStartsNoThreadBeforeConnect) {
  for (const char* name : kSystemLibraries) {
    ASSERT_NE(::dlopen(name, RTLD_NOW | RTLD_GLOBAL), nullptr) << ::dlerror();
  }
  const std::size_t threads = Threads();
  void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  EXPECT_EQ(Threads(), threads);

  auto daemon = testing::FakeDaemon::Start({});
  ASSERT_TRUE(daemon.ok()) << daemon.status();
  auto* const last_error = Symbol(library, "gpuos_last_error", &gpuos_last_error);
  auto* const connect = Symbol(library, "gpuos_connect", &gpuos_connect);
  auto* const create = Symbol(library, "gpuos_segment_create", &gpuos_segment_create);
  auto* const unmap = Symbol(library, "gpuos_segment_unmap", &gpuos_segment_unmap);
  auto* const query = Symbol(library, "gpuos_query_json", &gpuos_query_json);
  auto* const free = Symbol(library, "gpuos_free", &gpuos_free);
  auto* const close = Symbol(library, "gpuos_close", &gpuos_close);

  gpuos_session* session = nullptr;
  ASSERT_EQ(connect((*daemon)->target().c_str(), "", "beside", 0, &session), 0) << last_error();
  EXPECT_THAT((*daemon)->state().ClientNames(), ::testing::ElementsAre("beside"));
  uint64_t segment = 0;
  uint64_t size = 0;
  void* address = nullptr;
  ASSERT_EQ(create(session, 1, &segment, &address, &size), 0) << last_error();
  static_cast<char*>(address)[size - 1] = 1;
  EXPECT_EQ(unmap(address, size), 0);
  char* json = nullptr;
  EXPECT_EQ(query((*daemon)->target().c_str(), "devices", nullptr, &json), 0) << last_error();
  EXPECT_STREQ(json, R"({"devices":[]})");
  free(json);
  close(session);
  EXPECT_THAT((*daemon)->state().ClientNames(), IsEmpty());
}

TEST(LibgpuosTest, NeedsNoLibraryThatAMachineMayLack) {
  FILE* const readelf = ::popen((std::string("readelf -d ") + kLibrary).c_str(), "r");
  std::string text;
  char line[4096];
  while (::fgets(line, sizeof(line), readelf) != nullptr) text += line;
  EXPECT_EQ(::pclose(readelf), 0);
  for (const char* name : {"libgrpc", "libprotobuf", "libabsl", "libcuda", "libssl"}) {
    EXPECT_THAT(text, Not(::testing::HasSubstr(name)));
  }
  EXPECT_THAT(text, ::testing::HasSubstr("[libc.so.6]"));
}

}  // namespace
}  // namespace gpuos
