#include "client/internal/lib_cuda.h"

#include <dlfcn.h>

#include <cstring>

#include "absl/base/const_init.h"
#include "absl/base/thread_annotations.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"

namespace gpuos::internal {
namespace {

// The few words of cuda.h that are used here, so that clients build without the CUDA toolkit. All
// of them are part of the driver's binary interface and never change.
using Result = int;
using Context = void*;
constexpr Result kSuccess = 0;
constexpr Result kInvalidValue = 1;
enum PointerAttribute : int {
  kContext = 1,
  kMemoryType = 2,
  kBufferId = 7,
  kIsManaged = 8,
  kDeviceOrdinal = 9,
  kIsLegacyIpcCapable = 10,
  kMempoolHandle = 17,
};
constexpr unsigned kMemoryTypeDevice = 2;
struct IpcHandle {
  char bytes[64];
};
struct Uuid {
  unsigned char bytes[16];
};

// Entry points by the names under which libcuda keeps their newest versions.
struct EntryPoints {
  Result (*Init)(unsigned flags) = nullptr;
  Result (*PointerGetAttribute)(void* data, int attribute, std::uint64_t pointer) = nullptr;
  Result (*MemGetAddressRange)(std::uint64_t* base, std::size_t* size, std::uint64_t) = nullptr;
  Result (*IpcGetMemHandle)(IpcHandle* handle, std::uint64_t pointer) = nullptr;
  Result (*CtxPushCurrent)(Context context) = nullptr;
  Result (*CtxPopCurrent)(Context* context) = nullptr;
  Result (*DeviceGet)(int* device, int ordinal) = nullptr;
  Result (*DeviceGetUuid)(Uuid* uuid, int device) = nullptr;
  Result (*GetErrorName)(Result result, const char** name) = nullptr;
};

template <typename Function>
bool Take(void* library, const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(::dlsym(library, name));
  return *function != nullptr;
}

bool TakeAll(void* library, EntryPoints* cuda) {
  return Take(library, "cuInit", &cuda->Init) &&
         Take(library, "cuPointerGetAttribute", &cuda->PointerGetAttribute) &&
         Take(library, "cuMemGetAddressRange_v2", &cuda->MemGetAddressRange) &&
         Take(library, "cuIpcGetMemHandle", &cuda->IpcGetMemHandle) &&
         Take(library, "cuCtxPushCurrent_v2", &cuda->CtxPushCurrent) &&
         Take(library, "cuCtxPopCurrent_v2", &cuda->CtxPopCurrent) &&
         Take(library, "cuDeviceGet", &cuda->DeviceGet) &&
         Take(library, "cuDeviceGetUuid_v2", &cuda->DeviceGetUuid) &&
         Take(library, "cuGetErrorName", &cuda->GetErrorName);
}

std::string UuidText(const Uuid& uuid) {
  const std::string hex = absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(uuid.bytes), sizeof(uuid.bytes)));
  return absl::StrCat("GPU-", hex.substr(0, 8), "-", hex.substr(8, 4), "-", hex.substr(12, 4), "-",
                      hex.substr(16, 4), "-", hex.substr(20));
}

class LibCuda final : public CudaDriver {
 public:
  explicit LibCuda(const EntryPoints& cuda) : cuda_(cuda) {}

  absl::StatusOr<PointerFacts> Inspect(std::uint64_t pointer) override {
    PointerFacts facts;
    unsigned type = 0;
    const Result known = cuda_.PointerGetAttribute(&type, kMemoryType, pointer);
    if (known == kInvalidValue) return facts;
    if (known != kSuccess) return Failed("cuPointerGetAttribute", known);
    facts.kind =
        type == kMemoryTypeDevice ? PointerFacts::Kind::kDevice : PointerFacts::Kind::kHost;
    facts.managed = Flag(kIsManaged, pointer);
    facts.legacy_ipc = Flag(kIsLegacyIpcCapable, pointer);
    facts.pooled = InPool(pointer);
    if (facts.kind != PointerFacts::Kind::kDevice || !facts.legacy_ipc) return facts;
    if (absl::Status status = Locate(pointer, &facts); !status.ok()) return status;
    return facts;
  }

  absl::StatusOr<std::string> ExportHandle(std::uint64_t base) override {
    IpcHandle handle;
    if (absl::Status status = InContextOf(base, "cuIpcGetMemHandle",
                                          [&] { return cuda_.IpcGetMemHandle(&handle, base); });
        !status.ok()) {
      return status;
    }
    return std::string(handle.bytes, sizeof(handle.bytes));
  }

  absl::Status Failed(absl::string_view call, Result result) const {
    const char* name = nullptr;
    cuda_.GetErrorName(result, &name);
    return absl::InternalError(absl::StrCat(call, " of the CUDA driver failed with ",
                                            name != nullptr ? name : "error ",
                                            name != nullptr ? "" : absl::StrCat(result)));
  }

 private:
  // Flags that an older driver does not know count as not set.
  bool Flag(PointerAttribute attribute, std::uint64_t pointer) const {
    // The driver writes an unsigned int for some flags and a byte for others.
    unsigned value = 0;
    return cuda_.PointerGetAttribute(&value, attribute, pointer) == kSuccess && (value & 0xff) != 0;
  }

  bool InPool(std::uint64_t pointer) const {
    void* pool = nullptr;
    return cuda_.PointerGetAttribute(&pool, kMempoolHandle, pointer) == kSuccess && pool != nullptr;
  }

  absl::Status Locate(std::uint64_t pointer, PointerFacts* facts) const {
    std::size_t size = 0;
    if (absl::Status status =
            InContextOf(pointer, "cuMemGetAddressRange",
                        [&] { return cuda_.MemGetAddressRange(&facts->base, &size, pointer); });
        !status.ok()) {
      return status;
    }
    facts->size = size;
    Result result = cuda_.PointerGetAttribute(&facts->buffer_id, kBufferId, pointer);
    if (result != kSuccess) return Failed("cuPointerGetAttribute(BUFFER_ID)", result);
    return NameDevice(pointer, facts);
  }

  absl::Status NameDevice(std::uint64_t pointer, PointerFacts* facts) const {
    int ordinal = 0;
    Result result = cuda_.PointerGetAttribute(&ordinal, kDeviceOrdinal, pointer);
    if (result != kSuccess) return Failed("cuPointerGetAttribute(DEVICE_ORDINAL)", result);
    int device = 0;
    if (result = cuda_.DeviceGet(&device, ordinal); result != kSuccess) {
      return Failed("cuDeviceGet", result);
    }
    Uuid uuid;
    if (result = cuda_.DeviceGetUuid(&uuid, device); result != kSuccess) {
      return Failed("cuDeviceGetUuid", result);
    }
    facts->device_uuid = UuidText(uuid);
    return absl::OkStatus();
  }

  // Runs `call` with the context that owns `pointer`: this thread may have none, or another one.
  template <typename Function>
  absl::Status InContextOf(std::uint64_t pointer, absl::string_view name, Function call) const {
    Context context = nullptr;
    Result result = cuda_.PointerGetAttribute(&context, kContext, pointer);
    if (result != kSuccess) return Failed("cuPointerGetAttribute(CONTEXT)", result);
    if (result = cuda_.CtxPushCurrent(context); result != kSuccess) {
      return Failed("cuCtxPushCurrent", result);
    }
    result = call();
    Context popped;
    cuda_.CtxPopCurrent(&popped);
    return result == kSuccess ? absl::OkStatus() : Failed(name, result);
  }

  const EntryPoints cuda_;
};

absl::StatusOr<CudaDriver*> Load() {
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot load the CUDA driver to share CUDA memory (", ::dlerror(),
                     "): install NVIDIA's driver, or share memory files on a host device"));
  }
  EntryPoints cuda;
  if (!TakeAll(library, &cuda)) {
    return absl::FailedPreconditionError(
        "libcuda.so.1 lacks an entry point that sharing CUDA memory needs: install NVIDIA's driver "
        "for CUDA 12 or newer");
  }
  // Nothing owns the driver: it lives as long as the process.
  auto* driver = new LibCuda(cuda);
  if (const Result result = cuda.Init(0); result != kSuccess) {
    const absl::Status status = driver->Failed("cuInit", result);
    delete driver;
    return absl::FailedPreconditionError(status.message());
  }
  return driver;
}

}  // namespace

absl::StatusOr<CudaDriver*> LoadLibCuda() {
  // Constant-initialised: loading libgpuos runs no code of ours.
  static absl::Mutex mutex(absl::kConstInit);
  static CudaDriver* driver ABSL_GUARDED_BY(mutex) = nullptr;
  absl::MutexLock lock(&mutex);
  if (driver == nullptr) {
    absl::StatusOr<CudaDriver*> loaded = Load();
    if (!loaded.ok()) return loaded;
    driver = *loaded;
  }
  return driver;
}

}  // namespace gpuos::internal
