// Adds two vectors on a device of gpuosd: c = a + b.
//
//   bazel run //client/examples:add            the daemon at $GPUOS_TARGET or the well-known socket
//   bazel run //client/examples:add -- TARGET  such as unix:///run/gpuosd/gpuosd.sock
#include <cstddef>
#include <iostream>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gpuos/client.h"

namespace {

constexpr std::int64_t kCount = 8;
constexpr std::size_t kBytes = kCount * sizeof(float);

// Writes the work down once. A program names no memory, only slots; it may run many times, each
// time over other memory.
gpuos::ProgramBuilder RecordAdd() {
  gpuos::ProgramBuilder program;
  const std::uint32_t a = program.AddSlot(kBytes);
  const std::uint32_t b = program.AddSlot(kBytes);
  const std::uint32_t c = program.AddSlot(kBytes);
  const auto vector = [](std::uint32_t slot) {
    return gpuos::View::Contiguous(slot, gpuos::DType::kF32, {kCount});
  };
  // Outputs come first. `gpuosctl ops show add` prints what an operator takes.
  program.AddTask("add", {vector(c), vector(a), vector(b)});
  return program;
}

absl::Status Run(const std::string& target) {
  // A session is this process's right to use one device. It ends with `session`.
  gpuos::Session::Options options;
  options.target = target;
  options.client_name = "add example";
  absl::StatusOr<std::unique_ptr<gpuos::Session>> session = gpuos::Session::Connect(options);
  if (!session.ok()) return session.status();

  // Memory that this process and the device both see; nothing is copied through a socket.
  absl::StatusOr<gpuos::MappedSegment> memory = (*session)->CreateSegment(3 * kBytes);
  if (!memory.ok()) return memory.status();
  float* const a = memory->mapping.as<float>();
  float* const b = a + kCount;
  const float* const c = b + kCount;
  for (int i = 0; i < kCount; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = 0.5f;
  }

  absl::StatusOr<gpuos::ProgramId> program = (*session)->CreateProgram(RecordAdd());
  if (!program.ok()) return program.status();

  // One batch: the program, and where each of its slots lies this time (a multiple of 16 bytes).
  const gpuos::SegmentId id = memory->segment.id;
  absl::StatusOr<std::uint64_t> batch =
      (*session)->Submit(*program, {{id, 0}, {id, kBytes}, {id, 2 * kBytes}});
  if (!batch.ok()) return batch.status();
  if (absl::Status status = (*session)->Wait(*batch, absl::Seconds(10)); !status.ok()) {
    return status;
  }

  std::cout << "on " << (*session)->device_name() << ":";
  for (int i = 0; i < kCount; ++i) std::cout << " " << c[i];
  std::cout << "\n";
  return (*session)->Close();
}

}  // namespace

int main(int argc, char** argv) {
  const absl::Status status = Run(argc > 1 ? argv[1] : "");
  if (status.ok()) return 0;
  std::cerr << "add: " << status.message() << "\n";
  return 1;
}
