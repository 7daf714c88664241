// A running batch, as the blocks that work on it see it: the batch's state and its program.
#ifndef GPUOS_KERNELS_WORKER_BATCH_VIEW_H_
#define GPUOS_KERNELS_WORKER_BATCH_VIEW_H_

#include "gpuos/call.h"
#include "kernels/abi/program.h"
#include "kernels/abi/worker_state.h"

namespace gpuos::worker {

// A view: owns nothing, valid until the batch completes.
class BatchView {
 public:
  explicit GPUOS_INLINE BatchView(abi::BatchState& state)
      : state_(&state), program_(reinterpret_cast<const abi::Program*>(state.program)) {}

  GPUOS_INLINE abi::BatchState& state() const { return *state_; }
  GPUOS_INLINE const abi::Program& program() const { return *program_; }
  GPUOS_INLINE const abi::Task& task(std::uint32_t index) const {
    return Part<abi::Task>(program_->tasks)[index];
  }
  GPUOS_INLINE const std::uint32_t* successors() const {
    return Part<std::uint32_t>(program_->successors);
  }
  GPUOS_INLINE const std::uint32_t* roots() const { return Part<std::uint32_t>(program_->roots); }
  GPUOS_INLINE abi::TaskState& task_state(std::uint32_t index) const {
    return reinterpret_cast<abi::TaskState*>(state_->tasks)[index];
  }

  // Ready items of a task, that is blocks that may work on it at once.
  GPUOS_INLINE std::uint32_t WidthOf(std::uint32_t index) const {
    const std::uint32_t tiles = task(index).tiles;
    return tiles < program_->width ? tiles : program_->width;
  }

  GPUOS_INLINE OperatorFunction function(std::uint32_t op) const {
    return reinterpret_cast<OperatorFunction>(
        reinterpret_cast<const abi::DeviceAddress*>(state_->table)[op]);
  }

  // The call of a task's first tile.
  GPUOS_INLINE Call MakeCall(std::uint32_t index, unsigned char* scratch) const {
    const abi::Task& t = task(index);
    return Call{.views = Part<abi::View>(program_->views) + t.first_view,
                .bindings = reinterpret_cast<const abi::DeviceAddress*>(state_->bindings),
                .attributes = t.attributes,
                .batch = state_,
                .scratch = scratch,
                .tile_size = t.tile_size,
                .tile = 0,
                .tiles = t.tiles,
                .view_count = t.view_count,
                .task = index};
  }

 private:
  template <typename T>
  GPUOS_INLINE const T* Part(std::uint64_t offset) const {
    return reinterpret_cast<const T*>(reinterpret_cast<const char*>(program_) + offset);
  }

  abi::BatchState* state_;
  const abi::Program* program_;
};

}  // namespace gpuos::worker

#endif  // GPUOS_KERNELS_WORKER_BATCH_VIEW_H_
