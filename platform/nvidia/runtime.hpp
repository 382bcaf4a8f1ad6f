// The CUDA runtime under the names by which platform/gpu calls it.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace relayout::RELAYOUT_BACKEND::runtime {

using Status = cudaError_t;
using Stream = cudaStream_t;
using Event = cudaEvent_t;
using Graph = cudaGraph_t;
using ExecutableGraph = cudaGraphExec_t;
using Properties = cudaDeviceProp;
/// Picks one of the functions that have a name in common, by its parameters.
template <class... Parameters>
using Function = Status (*)(Parameters...);

inline constexpr const char *kBackend = "cuda", *kName = "CUDA";
inline constexpr Status kSuccess = cudaSuccess;

/// Returns the sticky error and clears it.
inline constexpr auto take_last_error = cudaGetLastError;
inline constexpr auto error_name = cudaGetErrorName;
inline constexpr auto error_text = cudaGetErrorString;

inline constexpr auto device_count = cudaGetDeviceCount;
inline constexpr auto current_device = cudaGetDevice;
inline constexpr auto set_device = cudaSetDevice;
inline constexpr auto can_access_peer = cudaDeviceCanAccessPeer;
inline constexpr auto enable_peer_access = cudaDeviceEnablePeerAccess;
inline constexpr Status kPeerAccessWasEnabled = cudaErrorPeerAccessAlreadyEnabled,
                        kTooManyPeers = cudaErrorTooManyPeers;
inline constexpr auto driver_version = cudaDriverGetVersion;
inline constexpr auto runtime_version = cudaRuntimeGetVersion;
inline constexpr Function<Properties*, int> properties = cudaGetDeviceProperties;
inline constexpr auto attribute = cudaDeviceGetAttribute;
/// In kHz, in bits, in kHz.
inline constexpr auto kMemoryClock = cudaDevAttrMemoryClockRate, kMemoryBus = cudaDevAttrGlobalMemoryBusWidth,
                      kClock = cudaDevAttrClockRate;
/// Words of the bus that move in one cycle of the memory's clock.
inline int memory_words_per_clock(const Properties&) { return 2; }

inline constexpr Function<void**, std::size_t> allocate = cudaMalloc;
/// Kernels of other devices may write any memory beside those that read it.
inline Status allocate_signals(void** memory, std::size_t bytes) { return cudaMalloc(memory, bytes); }
inline constexpr auto deallocate = cudaFree;
inline Status allocate_pinned(void** memory, std::size_t bytes) {
  return cudaHostAlloc(memory, bytes, cudaHostAllocPortable);
}
inline constexpr auto deallocate_pinned = cudaFreeHost;

using SharedName = cudaIpcMemHandle_t;
/// A function of the driver's, which is asked for when the program runs, so that nothing has to be linked
/// with the driver. Null: it has none of this name. since: the CUDA version that has it, times 1000.
template <class Called>
Called* driver_function(const char* name, unsigned since = 12000) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  const Status status = cudaGetDriverEntryPointByVersion(name, &function, since, cudaEnableDefault, &found);
#else
  (void)since;
  const Status status = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
  return status == kSuccess && found == cudaDriverEntryPointSuccess ? reinterpret_cast<Called*>(function)
                                                                    : nullptr;
}
/// The allocation that holds the memory. The runtime does not say.
inline Status find_allocation(char** begin, std::size_t* bytes, const void* memory) {
  auto* const range =
      driver_function<int(unsigned long long*, std::size_t*, unsigned long long)>("cuMemGetAddressRange");
  if (range == nullptr) return cudaErrorNotSupported;
  unsigned long long first = 0;
  if (range(&first, bytes, reinterpret_cast<unsigned long long>(memory)) != 0) return cudaErrorInvalidValue;
  *begin = reinterpret_cast<char*>(first);
  return kSuccess;
}
/// Whether the memory is virtual, of an allocation with a handle that other processes may open. Pools have
/// such allocations, too, but give no handle.
inline bool has_handle(const void* memory) {
  constexpr int kAllowedHandleTypes = 14;  // of CUpointer_attribute
  auto* const ask = driver_function<int(void*, int, unsigned long long)>("cuPointerGetAttribute");
  auto* const retain = driver_function<int(unsigned long long*, void*)>("cuMemRetainAllocationHandle");
  auto* const release = driver_function<int(unsigned long long)>("cuMemRelease");
  if (ask == nullptr || retain == nullptr || release == nullptr) return false;
  unsigned long long types = 0, handle = 0;
  return ask(&types, kAllowedHandleTypes, reinterpret_cast<unsigned long long>(memory)) == 0 && types != 0 &&
         retain(&handle, const_cast<void*>(memory)) == 0 && release(handle) == 0;
}
inline constexpr auto share = cudaIpcGetMemHandle;
inline Status map_shared(void** allocation, SharedName name) {
  return cudaIpcOpenMemHandle(allocation, name, cudaIpcMemLazyEnablePeerAccess);
}
inline constexpr auto unmap_shared = cudaIpcCloseMemHandle;

inline Status create_stream(Stream* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
}
/// A stream of a green context, which has half of the device's multiprocessors. The contexts of a device are
/// made once and stay, as its primary one does. An error where the driver has none.
Status create_half_stream(Stream* stream, int device, int half);
inline constexpr auto destroy_stream = cudaStreamDestroy;
inline constexpr auto synchronize_stream = cudaStreamSynchronize;
inline Status copy(void* destination, const void* source, std::size_t bytes, Stream stream) {
  return cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, stream);
}
inline Status copy_rows(void* destination, std::size_t destination_pitch, const void* source,
                        std::size_t source_pitch, std::size_t width, std::size_t rows, Stream stream) {
  return cudaMemcpy2DAsync(destination, destination_pitch, source, source_pitch, width, rows,
                           cudaMemcpyDefault, stream);
}
inline constexpr auto fill = cudaMemsetAsync;

inline Status create_event(Event* event, bool timed) {
  return cudaEventCreateWithFlags(event, timed ? cudaEventDefault : cudaEventDisableTiming);
}
inline constexpr auto destroy_event = cudaEventDestroy;
inline constexpr auto record_event = cudaEventRecord;
inline Status wait_event(Stream stream, Event event) { return cudaStreamWaitEvent(stream, event, 0); }
inline constexpr auto synchronize_event = cudaEventSynchronize;
inline constexpr auto query_event = cudaEventQuery;
inline constexpr Status kNotReady = cudaErrorNotReady;
inline constexpr auto elapsed_milliseconds = cudaEventElapsedTime;

inline Status begin_capture(Stream stream) {
  return cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
}
inline constexpr auto end_capture = cudaStreamEndCapture;
inline Status is_capturing(Stream stream, bool* captures) {
  cudaStreamCaptureStatus state = cudaStreamCaptureStatusNone;
  const Status status = cudaStreamIsCapturing(stream, &state);
  *captures = state != cudaStreamCaptureStatusNone;
  return status;
}
inline constexpr auto destroy_graph = cudaGraphDestroy;
inline Status make_executable(ExecutableGraph* executable, Graph graph) {
  return cudaGraphInstantiate(executable, graph, 0);
}
inline constexpr auto launch_graph = cudaGraphLaunch;
inline constexpr auto destroy_executable = cudaGraphExecDestroy;

/// The rate of the clock %globaltimer.
inline double ticks_per_second(int /*device*/) { return 1e9; }

/// "12.8"
inline std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}
inline std::string architecture(const Properties& device) {
  return "sm_" + std::to_string(device.major) + std::to_string(device.minor);
}
/// What a kernel may have once allow_shared_memory() has asked for it.
inline std::int64_t shared_memory_per_block(const Properties& device) {
  return static_cast<std::int64_t>(device.sharedMemPerBlockOptin);
}
/// Threads of a grid along an axis: what blocks and their threads allow.
constexpr std::int64_t kMaxGridThreads = std::int64_t{0x7fffffff} * 1024;

/// Whether kernels may begin while the one before them ends: the code that runs on the device, which is the
/// current one, must have been compiled for GPUs that know of it (compute capability 9.0), and a driver must
/// be able to record it in a graph (12.3). All kernels are compiled for the same GPUs, so one is asked.
inline bool has_early_launches(int device, const void* kernel) {
  static std::atomic<std::uint64_t> asked{0}, found{0};  // a bit for each device
  if (device >= 64) return false;
  const std::uint64_t bit = std::uint64_t{1} << device;
  if ((asked.load() & bit) == 0) {
    cudaFuncAttributes code{};
    int driver = 0;
    if (cudaFuncGetAttributes(&code, kernel) == kSuccess && driver_version(&driver) == kSuccess &&
        code.ptxVersion >= 90 && code.binaryVersion >= 90 && driver >= 12030)
      found.fetch_or(bit);
    asked.fetch_or(bit);
  }
  return (found.load() & bit) != 0;
}
/// Starts a kernel, whose arguments lie at these addresses.
inline Status launch(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                     Stream stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}
/// Starts one early, where that can be.
inline Status launch_early(int device, const void* kernel, dim3 grid, dim3 block, void** arguments,
                           std::size_t shared_bytes, Stream stream) {
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = has_early_launches(device, kernel) ? 1 : 0;
  return cudaLaunchKernelExC(&config, kernel, arguments);
}

}  // namespace relayout::RELAYOUT_BACKEND::runtime
