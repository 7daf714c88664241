// Memory that a session shares with gpuosd.
#ifndef GPUOS_SEGMENT_H_
#define GPUOS_SEGMENT_H_

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpuos {

// Names one segment of a session: one allocation, however many tensors lie in it. Given by the
// daemon, never reused during its life, never 0.
enum class SegmentId : std::uint64_t {};

// A segment as the daemon sees it.
struct Segment {
  SegmentId id{};
  // Bytes, asked by the daemon from the kernel or the driver.
  std::uint64_t size = 0;

  friend bool operator==(const Segment&, const Segment&) = default;
};

// Where a pointer of this process lies in a segment.
struct SegmentPosition {
  Segment segment;
  // Bytes from the start of the segment.
  std::uint64_t offset = 0;

  friend bool operator==(const SegmentPosition&, const SegmentPosition&) = default;
};

// Owns one mapping of shared memory in this process and unmaps it when destroyed. It needs no
// session: the memory stays readable and writable here after the session has ended, also when the
// daemon is gone. A forked child has the same memory mapped.
//
// Thread-compatible; what lies at data() is as thread-safe as the programs that work on it.
// Unmapping never blocks and never fails.
class Mapping {
 public:
  Mapping() = default;
  // Takes over `size` bytes at `data`, as mmap gave them.
  Mapping(void* data, std::size_t size) : data_(data), size_(size) {}
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  // Null when empty. Page-aligned.
  void* data() const { return data_; }
  // Bytes.
  std::size_t size() const { return size_; }
  // The first element, taken as a T.
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  // Gives the memory up without unmapping it: the caller calls munmap(data, size).
  void* Release() {
    size_ = 0;
    return std::exchange(data_, nullptr);
  }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

// A segment that the daemon made and that is mapped here, zeroed. Destroying it unmaps the memory
// here; the daemon lets its side go with Session::Release or with the session.
struct MappedSegment {
  Segment segment;
  Mapping mapping;
};

}  // namespace gpuos

#endif  // GPUOS_SEGMENT_H_
