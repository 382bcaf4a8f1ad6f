// The HIP runtime under the names by which platform/gpu calls it.
#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace relayout::RELAYOUT_BACKEND::runtime {

using Status = hipError_t;
using Stream = hipStream_t;
using Event = hipEvent_t;
using Graph = hipGraph_t;
using ExecutableGraph = hipGraphExec_t;
using Properties = hipDeviceProp_t;
/// Picks one of the functions that have a name in common, by its parameters.
template <class... Parameters>
using Function = Status (*)(Parameters...);

inline constexpr const char *kBackend = "hip", *kName = "HIP";
inline constexpr Status kSuccess = hipSuccess;

/// Returns the sticky error and clears it.
inline constexpr auto take_last_error = hipGetLastError;
inline constexpr auto error_name = hipGetErrorName;
inline constexpr auto error_text = hipGetErrorString;

inline constexpr auto device_count = hipGetDeviceCount;
inline constexpr auto current_device = hipGetDevice;
inline constexpr auto set_device = hipSetDevice;
inline constexpr auto can_access_peer = hipDeviceCanAccessPeer;
inline constexpr auto enable_peer_access = hipDeviceEnablePeerAccess;
/// HIP knows no most number of peers; a GPU that cannot have one more refuses it.
inline constexpr Status kPeerAccessWasEnabled = hipErrorPeerAccessAlreadyEnabled,
                        kTooManyPeers = hipErrorPeerAccessUnsupported;
inline constexpr auto driver_version = hipDriverGetVersion;
inline constexpr auto runtime_version = hipRuntimeGetVersion;
inline constexpr Function<Properties*, int> properties = hipGetDeviceProperties;
inline constexpr auto attribute = hipDeviceGetAttribute;
/// In kHz, in bits, in kHz.
inline constexpr auto kMemoryClock = hipDeviceAttributeMemoryClockRate,
                      kMemoryBus = hipDeviceAttributeMemoryBusWidth, kClock = hipDeviceAttributeClockRate;
/// Words of the bus that move in one cycle of the clock that HIP gives the memory, by the data sheets: four
/// of HBM3 (1300 MHz and 8192 bits for the 5.3 TB/s of an MI300X), sixteen of GDDR6 (1249 MHz and 384 bits
/// for the 960 GB/s of an RX 7900 XTX), and two of HBM2.
inline int memory_words_per_clock(const Properties& device) {
  const std::string architecture = device.gcnArchName;
  const auto is_of = [&](const char* family) { return architecture.rfind(family, 0) == 0; };
  if (is_of("gfx94") || is_of("gfx95")) return 4;
  return is_of("gfx10") || is_of("gfx11") || is_of("gfx12") ? 16 : 2;
}

inline constexpr Function<void**, std::size_t> allocate = hipMalloc;
/// What kernels of other devices write is not seen by a kernel that runs here, unless no cache holds it.
inline Status allocate_signals(void** memory, std::size_t bytes) {
  return hipExtMallocWithFlags(memory, bytes, hipDeviceMallocUncached);
}
inline constexpr auto deallocate = hipFree;
inline Status allocate_pinned(void** memory, std::size_t bytes) {
  // Coherent: a kernel that waits sees what the host writes meanwhile.
  return hipHostMalloc(memory, bytes, hipHostMallocPortable | hipHostMallocMapped | hipHostMallocCoherent);
}
inline constexpr auto deallocate_pinned = hipHostFree;

using SharedName = hipIpcMemHandle_t;
/// The allocation that holds the memory.
inline Status find_allocation(char** begin, std::size_t* bytes, const void* memory) {
  hipDeviceptr_t first = nullptr;
  const Status status = hipMemGetAddressRange(&first, bytes, const_cast<void*>(memory));
  *begin = static_cast<char*>(first);
  return status;
}
/// Whether the memory is virtual, of an allocation with a handle: not asked, because HIP's function for it
/// reads through a null pointer where there is none.
inline bool has_handle(const void*) { return false; }
inline constexpr auto share = hipIpcGetMemHandle;
inline Status map_shared(void** allocation, SharedName name) {
  return hipIpcOpenMemHandle(allocation, name, hipIpcMemLazyEnablePeerAccess);
}
inline constexpr auto unmap_shared = hipIpcCloseMemHandle;

inline Status create_stream(Stream* stream) { return hipStreamCreateWithFlags(stream, hipStreamNonBlocking); }
/// Streams with a mask of compute units exist; nobody has measured here what they gain.
inline Status create_half_stream(Stream*, int /*device*/, int /*half*/) { return hipErrorNotSupported; }
inline constexpr auto destroy_stream = hipStreamDestroy;
inline constexpr auto synchronize_stream = hipStreamSynchronize;
inline Status copy(void* destination, const void* source, std::size_t bytes, Stream stream) {
  return hipMemcpyAsync(destination, source, bytes, hipMemcpyDefault, stream);
}
inline Status copy_rows(void* destination, std::size_t destination_pitch, const void* source,
                        std::size_t source_pitch, std::size_t width, std::size_t rows, Stream stream) {
  return hipMemcpy2DAsync(destination, destination_pitch, source, source_pitch, width, rows, hipMemcpyDefault,
                          stream);
}
inline constexpr auto fill = hipMemsetAsync;

inline Status create_event(Event* event, bool timed) {
  return hipEventCreateWithFlags(event, timed ? hipEventDefault : hipEventDisableTiming);
}
inline constexpr auto destroy_event = hipEventDestroy;
inline constexpr auto record_event = hipEventRecord;
inline Status wait_event(Stream stream, Event event) { return hipStreamWaitEvent(stream, event, 0); }
inline constexpr auto synchronize_event = hipEventSynchronize;
inline constexpr auto query_event = hipEventQuery;
inline constexpr Status kNotReady = hipErrorNotReady;
inline constexpr auto elapsed_milliseconds = hipEventElapsedTime;

inline Status begin_capture(Stream stream) {
  return hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal);
}
inline constexpr auto end_capture = hipStreamEndCapture;
inline Status is_capturing(Stream stream, bool* captures) {
  hipStreamCaptureStatus state = hipStreamCaptureStatusNone;
  const Status status = hipStreamIsCapturing(stream, &state);
  *captures = state != hipStreamCaptureStatusNone;
  return status;
}
inline constexpr auto destroy_graph = hipGraphDestroy;
inline Status make_executable(ExecutableGraph* executable, Graph graph) {
  return hipGraphInstantiate(executable, graph, nullptr, nullptr, 0);
}
inline constexpr auto launch_graph = hipGraphLaunch;
inline constexpr auto destroy_executable = hipGraphExecDestroy;

/// The rate of wall_clock64(). All devices so far have 100 MHz, which holds where the runtime does not say.
inline double ticks_per_second(int device) {
  int kilohertz = 0;
  const bool is_known =
      hipDeviceGetAttribute(&kilohertz, hipDeviceAttributeWallClockRate, device) == hipSuccess &&
      kilohertz > 0;
  return is_known ? kilohertz * 1e3 : 100e6;
}

/// "5.7.31921"
inline std::string version_text(int version) {
  return std::to_string(version / 10000000) + "." + std::to_string(version / 100000 % 100) + "." +
         std::to_string(version % 100000);
}
inline std::string architecture(const Properties& device) { return device.gcnArchName; }
inline std::int64_t shared_memory_per_block(const Properties& device) {
  return static_cast<std::int64_t>(device.sharedMemPerBlock);
}
/// Threads of a grid along an axis: HIP counts them in 32 bits.
constexpr std::int64_t kMaxGridThreads = 0xffffffff;
/// Starts a kernel, whose arguments lie at these addresses.
inline Status launch(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                     Stream stream) {
  return hipLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}
/// A kernel begins when the one before it has ended.
inline Status launch_early(int, const void* kernel, dim3 grid, dim3 block, void** arguments,
                           std::size_t shared_bytes, Stream stream) {
  return launch(kernel, grid, block, arguments, shared_bytes, stream);
}

}  // namespace relayout::RELAYOUT_BACKEND::runtime
