// For tests: a client that takes the first N steps of a job and is then killed, as by SIGKILL at
// that instruction: doomed_client SOCKET N.
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "daemon/control/integration/raw_client.h"
#include "gpuos/v1/control.pb.h"
#include "gpuos/v1/types.pb.h"

namespace gpuos::control {
namespace {

// Holds its batch on the device for a tenth of a second.
v1::Program Spin() {
  v1::Program program;
  v1::Task& task = *program.add_tasks();
  task.set_op("test.spin");
  v1::Attribute& attribute = *task.add_attributes();
  attribute.set_name("ms");
  attribute.mutable_value()->set_i(100);
  return program;
}

[[noreturn]] void Die() {
  kill(getpid(), SIGKILL);
  std::abort();
}

// Ends the process with 1 if the step itself fails: then the test tests nothing.
void Step(bool ok, int* left) {
  if (!ok) _exit(1);
  if (--*left == 0) Die();
}

int Main(const char* socket, int steps) {
  RawClient client(socket);
  std::unique_ptr<MappedSegment> segment;
  v1::RegisterSegmentResponse registered;
  std::uint64_t negate = 0, spin = 0;
  const link::UniqueFd memory = MakeTestMemory(4096, /*sealed=*/true);
  Step(client.Open("doomed").ok(), &steps);
  Step(client.Attach().code() == 0, &steps);
  Step(client.CreateSegment(4096, &segment).ok(), &steps);
  Step(client.SendDescriptor(1, memory.get()).code() == 0, &steps);
  Step(client.RegisterDescriptor(1, &registered).ok(), &steps);
  Step(client.CreateProgram(OneTask("neg", 2, 4), &negate).ok(), &steps);
  Step(client.Submit(negate, {segment->id(), registered.segment()}, true).ok(), &steps);
  Step(client.CreateProgram(Spin(), &spin).ok(), &steps);
  Step(client.Submit(spin, {}, false).ok(), &steps);
  bool queued = true;
  for (int i = 0; i < 20 && queued; ++i) {
    queued = client.Submit(negate, {segment->id(), registered.segment()}, false).ok();
  }
  Step(queued, &steps);
  return 0;
}

}  // namespace
}  // namespace gpuos::control

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  return gpuos::control::Main(argv[1], std::atoi(argv[2]));
}
