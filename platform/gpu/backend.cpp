// The back end for GPUs: the vendor's runtime behind platform/backend.hpp. Compiled once for each vendor,
// whose runtime.hpp, kernel_language.hpp and blas.cpp it is built with.
#include "platform/backend.hpp"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "blas.hpp"
#include "check.hpp"
#include "core/kernel_table.hpp"
#include "requirements.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

runtime::Stream stream_of(const LaunchContext& context) {
  return static_cast<runtime::Stream>(context.stream);
}
runtime::Event event_of(void* event) { return static_cast<runtime::Event>(event); }

[[noreturn]] void throw_out_of_memory(const char* what, std::size_t bytes, runtime::Status status) {
  (void)runtime::take_last_error();
  throw Error(ErrorCode::out_of_memory, std::string("no ") + what + " of " + std::to_string(bytes) +
                                            " bytes: " + runtime::error_text(status));
}

void* allocated(int device, std::size_t bytes, const char* what,
                runtime::Function<void**, std::size_t> allocate) {
  const DeviceGuard guard(device);
  void* memory = nullptr;
  const runtime::Status status = allocate(&memory, bytes);
  if (status != runtime::kSuccess) throw_out_of_memory(what, bytes, status);
  return memory;
}

/// "CUDA driver 12.8, runtime 12.4" or "HIP driver 5.7.31921, runtime 5.7.31921"
std::string versions() {
  int driver = 0, library = 0;
  check(runtime::driver_version(&driver), "asking for the driver's version");
  check(runtime::runtime_version(&library), "asking for the runtime's version");
  return std::string(runtime::kName) + " driver " + runtime::version_text(driver) + ", runtime " +
         runtime::version_text(library);
}

/// A number that the driver gives of a device; 0: it gives none.
template <class Attribute>
std::int64_t attribute(Attribute asked, int device) {
  int value = 0;
  if (runtime::attribute(&value, asked, device) == runtime::kSuccess) return value;
  (void)runtime::take_last_error();
  return 0;
}

/// Makes the stream's device current where the stream needs that: a default one, null or one of the small
/// numbers that name it, is the current device's.
class StreamGuard {
 public:
  explicit StreamGuard(const LaunchContext& context) {
    if (reinterpret_cast<std::uintptr_t>(context.stream) < 16) guard_.emplace(context.device);
  }

 private:
  std::optional<DeviceGuard> guard_;
};

class GpuBackend final : public Backend {
 public:
  const char* name() const noexcept override { return runtime::kBackend; }

  int device_count() noexcept override {
    int count = 0;
    if (runtime::device_count(&count) == runtime::kSuccess) return count;
    (void)runtime::take_last_error();
    return 0;
  }

  std::string why_no_device() override {
    int version = 0;
    if (runtime::driver_version(&version) != runtime::kSuccess) (void)runtime::take_last_error();
    return "relayout needs " + requirements() + "; " + finding(version);
  }

  DeviceProperties properties(int device) override {
    runtime::Properties vendor{};
    check(runtime::properties(&vendor, device), "asking for device properties");
    if (!has_code_for(vendor)) {
      throw Error(ErrorCode::no_device,
                  "GPU " + std::to_string(device) + ", " + vendor.name + " of " +
                      runtime::architecture(vendor) +
                      ", cannot be used: relayout was built for another one, and needs " + requirements());
    }
    DeviceProperties properties;
    properties.name = vendor.name;
    properties.architecture = runtime::architecture(vendor);
    properties.warp_size = vendor.warpSize;
    properties.multiprocessors = vendor.multiProcessorCount;
    properties.max_threads_per_block = vendor.maxThreadsPerBlock;
    properties.shared_memory_per_block = runtime::shared_memory_per_block(vendor);
    properties.max_grid_x = vendor.maxGridSize[0];
    properties.max_grid_y = vendor.maxGridSize[1];
    properties.max_grid_z = vendor.maxGridSize[2];
    properties.l2_bytes = static_cast<std::size_t>(vendor.l2CacheSize);
    properties.memory_bytes = vendor.totalGlobalMem;
    properties.memory_bytes_per_second = attribute(runtime::kMemoryClock, device) * 1000 *
                                         attribute(runtime::kMemoryBus, device) / 8 *
                                         runtime::memory_words_per_clock(vendor);
    properties.clock_hertz = attribute(runtime::kClock, device) * 1000;
    properties.driver = versions();
    return properties;
  }

  void* allocate(int device, std::size_t bytes) override {
    return allocated(device, bytes, "device memory", runtime::allocate);
  }
  void* allocate_signals(int device, std::size_t bytes) override {
    return allocated(device, bytes, "device memory for signals", runtime::allocate_signals);
  }
  void deallocate(int, void* memory) noexcept override { (void)runtime::deallocate(memory); }

  void* allocate_pinned(int device, std::size_t bytes) override {
    return allocated(device, bytes, "pinned host memory", runtime::allocate_pinned);
  }
  void deallocate_pinned(int, void* memory) noexcept override { (void)runtime::deallocate_pinned(memory); }

  bool enable_peer_access(int device, int peer) override {
    int possible = 0;
    check(runtime::can_access_peer(&possible, device, peer), "asking for peer access");
    if (possible == 0) return false;
    const DeviceGuard guard(device);
    const runtime::Status status = runtime::enable_peer_access(peer, 0);
    if (status == runtime::kPeerAccessWasEnabled) {
      (void)runtime::take_last_error();  // by the caller, or by an earlier group
    } else if (status == runtime::kTooManyPeers) {
      (void)runtime::take_last_error();
      return false;
    } else {
      check(status, "enabling peer access");
    }
    return true;
  }

  bool share_memory(int device, const void* memory, SharedMemoryName& name) override {
    static_assert(sizeof(runtime::SharedName) == sizeof name.allocation);
    const DeviceGuard guard(device);
    runtime::SharedName handle{};
    Allocation whole;
    if (runtime::find_allocation(&whole.begin, &whole.bytes, memory) != runtime::kSuccess ||
        runtime::share(&handle, const_cast<void*>(memory)) != runtime::kSuccess) {
      (void)runtime::take_last_error();
      return false;
    }
    std::memcpy(name.allocation, &handle, sizeof handle);
    name.offset = static_cast<std::uint64_t>(static_cast<const char*>(memory) - whole.begin);
    return true;
  }
  Allocation allocation_for_window(int device, const void* memory) override {
    const DeviceGuard guard(device);
    Allocation whole;
    if (runtime::find_allocation(&whole.begin, &whole.bytes, memory) == runtime::kSuccess &&
        runtime::has_handle(memory))
      return whole;
    (void)runtime::take_last_error();
    return {};
  }
  void* map_shared_memory(int device, const SharedMemoryName& name) override {
    const DeviceGuard guard(device);
    runtime::SharedName handle{};
    std::memcpy(&handle, name.allocation, sizeof handle);
    void* allocation = nullptr;
    check(runtime::map_shared(&allocation, handle), "mapping memory of another process");
    return allocation;
  }
  void unmap_shared_memory(int device, void* allocation) noexcept override {
    try {
      const DeviceGuard guard(device);
      (void)runtime::unmap_shared(allocation);
    } catch (const Error&) {  // the driver has ended
    }
  }

  int make_current(int device) override { return RELAYOUT_BACKEND::make_current(device); }
  void* create_stream(const Device& device) override {
    const DeviceGuard guard(device.index());
    runtime::Stream stream = nullptr;
    check(runtime::create_stream(&stream), "creating a stream");
    return stream;
  }
  void* create_half_stream(const Device& device, int half) override {
    const DeviceGuard guard(device.index());
    runtime::Stream stream = nullptr;
    return runtime::create_half_stream(&stream, device.index(), half) == runtime::kSuccess
               ? stream
               : create_stream(device);
  }
  void destroy_stream(int device, void* stream) noexcept override {
    release_blas(device, stream);
    (void)runtime::destroy_stream(static_cast<runtime::Stream>(stream));
  }
  void synchronize_stream(const LaunchContext& context) override {
    const DeviceGuard guard(context.device);  // whose default stream null is, here and below
    check(runtime::synchronize_stream(stream_of(context)), "the work of a stream", ErrorCode::launch);
  }

  void copy(const LaunchContext& context, void* destination, const void* source, std::size_t bytes) override {
    const DeviceGuard guard(context.device);
    check(runtime::copy(destination, source, bytes, stream_of(context)), "copy");
  }
  void copy_rows(const LaunchContext& context, void* destination, std::size_t destination_pitch,
                 const void* source, std::size_t source_pitch, std::size_t width, std::size_t rows) override {
    const DeviceGuard guard(context.device);
    check(runtime::copy_rows(destination, destination_pitch, source, source_pitch, width, rows,
                             stream_of(context)),
          "copying rows");
  }
  void fill(const LaunchContext& context, void* destination, unsigned char value,
            std::size_t bytes) override {
    const DeviceGuard guard(context.device);
    check(runtime::fill(destination, value, bytes, stream_of(context)), "fill");
  }

  void* create_event(int device, bool timed) override {
    const DeviceGuard guard(device);
    runtime::Event event = nullptr;
    check(runtime::create_event(&event, timed), "creating an event");
    return event;
  }
  void destroy_event(int, void* event) noexcept override { (void)runtime::destroy_event(event_of(event)); }
  void record_event(const LaunchContext& context, void* event) override {
    const StreamGuard guard(context);
    check(runtime::record_event(event_of(event), stream_of(context)), "recording an event");
  }
  void wait_event(const LaunchContext& context, void* event) override {
    const StreamGuard guard(context);
    check(runtime::wait_event(stream_of(context), event_of(event)), "waiting for an event");
  }
  void synchronize_event(int, void* event) override {
    check(runtime::synchronize_event(event_of(event)), "the work before an event", ErrorCode::launch);
  }
  bool event_is_done(int, void* event) override {
    const runtime::Status status = runtime::query_event(event_of(event));
    if (status == runtime::kNotReady) {
      (void)runtime::take_last_error();  // HIP keeps it
      return false;
    }
    check(status, "the work before an event", ErrorCode::launch);
    return true;
  }
  float milliseconds(int, void* start, void* stop) override {
    float result = 0.0f;
    check(runtime::elapsed_milliseconds(&result, event_of(start), event_of(stop)), "timing by events");
    return result;
  }

  bool begin_capture(const LaunchContext& context) override {
    const DeviceGuard guard(context.device);
    // The library's workspace: nothing may be allocated while work is recorded.
    prepare_library(context);
    check(runtime::begin_capture(stream_of(context)), "beginning a graph");
    return true;
  }
  bool is_capturing(const LaunchContext& context) override {
    const DeviceGuard guard(context.device);
    bool captures = false;
    check(runtime::is_capturing(stream_of(context), &captures), "asking whether a stream is recorded");
    return captures;
  }
  void* end_capture(const LaunchContext& context) override {
    const DeviceGuard guard(context.device);
    runtime::Graph graph = nullptr;
    check(runtime::end_capture(stream_of(context), &graph), "recording a graph");
    runtime::ExecutableGraph executable = nullptr;
    const runtime::Status status = runtime::make_executable(&executable, graph);
    (void)runtime::destroy_graph(graph);
    check(status, "making a graph ready to launch");
    return executable;
  }
  void abandon_capture(const LaunchContext& context) noexcept override {
    runtime::Graph graph = nullptr;
    (void)runtime::end_capture(stream_of(context), &graph);
    if (graph != nullptr) (void)runtime::destroy_graph(graph);
    (void)runtime::take_last_error();  // that the recording failed is known already
  }
  void launch_graph(const LaunchContext& context, void* graph) override {
    const DeviceGuard guard(context.device);
    check(runtime::launch_graph(static_cast<runtime::ExecutableGraph>(graph), stream_of(context)),
          "launching a graph", ErrorCode::launch);
  }
  void destroy_graph(int, void* graph) noexcept override {
    (void)runtime::destroy_executable(static_cast<runtime::ExecutableGraph>(graph));
  }

  const KernelTable& kernels() override { return kernel_table(); }
  double ticks_per_second(int device) override { return runtime::ticks_per_second(device); }

  const char* blas_name() const noexcept override { return library_name(); }
  bool blas_needs_workspace(bool with_bias, DType) const noexcept override {
    return library_name() != nullptr && with_bias;
  }
  // Vendors' libraries refuse them.
  bool blas_takes_overlapping_rows() const noexcept override { return false; }
  void prepare_blas(const LaunchContext& context) override { prepare_library(context); }
  bool blas_gemm(const LaunchContext& context, const GemmParams& params) override {
    if (!library_gemm(context, params)) return false;
    if (params.bias != nullptr) {
      GemmParams epilogue = params;
      epilogue.kernel = GemmKernel::epilogue;
      kernel_table().gemm(context, epilogue);
    }
    return true;
  }
};

}  // namespace
}  // namespace relayout::RELAYOUT_BACKEND

/// The function that platform/registry.cpp calls: relayout_backend_cuda or relayout_backend_hip.
extern "C" __attribute__((visibility("default"))) relayout::Backend* RELAYOUT_BACKEND_FUNCTION() {
  static auto& backend = *new relayout::RELAYOUT_BACKEND::GpuBackend;
  return &backend;
}
