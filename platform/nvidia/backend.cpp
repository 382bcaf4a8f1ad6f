// The back end for NVIDIA GPUs: the CUDA runtime behind platform/backend.hpp.
#include "platform/backend.hpp"

#include <string>

#include "blas.hpp"
#include "check.hpp"
#include "core/kernel_table.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

cudaStream_t stream_of(const LaunchContext& context) { return static_cast<cudaStream_t>(context.stream); }
cudaEvent_t event_of(void* event) { return static_cast<cudaEvent_t>(event); }

[[noreturn]] void throw_out_of_memory(const char* what, std::size_t bytes, cudaError_t status) {
  cudaGetLastError();
  throw Error(ErrorCode::out_of_memory, std::string("no ") + what + " of " + std::to_string(bytes) +
                                            " bytes: " + cudaGetErrorString(status));
}

/// "CUDA driver 12.8, runtime 12.4"
std::string versions() {
  const auto text = [](int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  };
  int driver = 0, runtime = 0;
  check(cudaDriverGetVersion(&driver), "asking for the driver's version");
  check(cudaRuntimeGetVersion(&runtime), "asking for the runtime's version");
  return "CUDA driver " + text(driver) + ", runtime " + text(runtime);
}

class CudaBackend final : public Backend {
 public:
  const char* name() const noexcept override { return "cuda"; }

  int device_count() noexcept override {
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
    cudaGetLastError();
    return 0;
  }

  DeviceProperties properties(int device) override {
    cudaDeviceProp vendor{};
    check(cudaGetDeviceProperties(&vendor, device), "asking for device properties");
    DeviceProperties properties;
    properties.name = vendor.name;
    properties.architecture = "sm_" + std::to_string(vendor.major) + std::to_string(vendor.minor);
    properties.warp_size = vendor.warpSize;
    properties.multiprocessors = vendor.multiProcessorCount;
    properties.max_threads_per_block = vendor.maxThreadsPerBlock;
    properties.shared_memory_per_block = static_cast<std::int64_t>(vendor.sharedMemPerBlockOptin);
    properties.max_grid_x = vendor.maxGridSize[0];
    properties.max_grid_y = vendor.maxGridSize[1];
    properties.max_grid_z = vendor.maxGridSize[2];
    properties.l2_bytes = static_cast<std::size_t>(vendor.l2CacheSize);
    properties.memory_bytes = vendor.totalGlobalMem;
    properties.driver = versions();
    return properties;
  }

  void* allocate(int device, std::size_t bytes) override {
    const DeviceGuard guard(device);
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, bytes);
    if (status != cudaSuccess) throw_out_of_memory("device memory", bytes, status);
    return memory;
  }
  void deallocate(int, void* memory) noexcept override { cudaFree(memory); }

  void* allocate_pinned(int device, std::size_t bytes) override {
    const DeviceGuard guard(device);
    void* memory = nullptr;
    const cudaError_t status = cudaHostAlloc(&memory, bytes, cudaHostAllocPortable);
    if (status != cudaSuccess) throw_out_of_memory("pinned host memory", bytes, status);
    return memory;
  }
  void deallocate_pinned(int, void* memory) noexcept override { cudaFreeHost(memory); }

  void* create_stream(const Device& device) override {
    const DeviceGuard guard(device.index());
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
    return stream;
  }
  void destroy_stream(int device, void* stream) noexcept override {
    release_blas(device, stream);
    cudaStreamDestroy(static_cast<cudaStream_t>(stream));
  }
  void synchronize_stream(const LaunchContext& context) override {
    check(cudaStreamSynchronize(stream_of(context)), "the work of a stream", ErrorCode::launch);
  }

  void copy(const LaunchContext& context, void* destination, const void* source, std::size_t bytes) override {
    const DeviceGuard guard(context.device);
    check(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, stream_of(context)), "copy");
  }
  void copy_rows(const LaunchContext& context, void* destination, std::size_t destination_pitch,
                 const void* source, std::size_t source_pitch, std::size_t width, std::size_t rows) override {
    const DeviceGuard guard(context.device);
    check(cudaMemcpy2DAsync(destination, destination_pitch, source, source_pitch, width, rows,
                            cudaMemcpyDefault, stream_of(context)),
          "copying rows");
  }
  void fill(const LaunchContext& context, void* destination, unsigned char value,
            std::size_t bytes) override {
    const DeviceGuard guard(context.device);
    check(cudaMemsetAsync(destination, value, bytes, stream_of(context)), "fill");
  }

  void* create_event(int device) override {
    const DeviceGuard guard(device);
    cudaEvent_t event = nullptr;
    check(cudaEventCreate(&event), "creating an event");
    return event;
  }
  void destroy_event(int, void* event) noexcept override { cudaEventDestroy(event_of(event)); }
  void record_event(const LaunchContext& context, void* event) override {
    check(cudaEventRecord(event_of(event), stream_of(context)), "recording an event");
  }
  void wait_event(const LaunchContext& context, void* event) override {
    check(cudaStreamWaitEvent(stream_of(context), event_of(event), 0), "waiting for an event");
  }
  void synchronize_event(int, void* event) override {
    check(cudaEventSynchronize(event_of(event)), "the work before an event", ErrorCode::launch);
  }
  float milliseconds(int, void* start, void* stop) override {
    float result = 0.0f;
    check(cudaEventElapsedTime(&result, event_of(start), event_of(stop)), "timing by events");
    return result;
  }

  bool begin_capture(const LaunchContext& context) override {
    const DeviceGuard guard(context.device);
    // The library's workspace: nothing may be allocated while work is recorded.
    prepare_library(context);
    check(cudaStreamBeginCapture(stream_of(context), cudaStreamCaptureModeThreadLocal), "beginning a graph");
    return true;
  }
  void* end_capture(const LaunchContext& context) override {
    const DeviceGuard guard(context.device);
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream_of(context), &graph), "recording a graph");
    cudaGraphExec_t executable = nullptr;
    const cudaError_t status = cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphDestroy(graph);
    check(status, "making a graph ready to launch");
    return executable;
  }
  void abandon_capture(const LaunchContext& context) noexcept override {
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(stream_of(context), &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();  // that the recording failed is known already
  }
  void launch_graph(const LaunchContext& context, void* graph) override {
    const DeviceGuard guard(context.device);
    check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), stream_of(context)), "launching a graph",
          ErrorCode::launch);
  }
  void destroy_graph(int, void* graph) noexcept override {
    cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph));
  }

  const KernelTable& kernels() override { return kernel_table(); }

  const char* blas_name() const noexcept override { return library_name(); }
  bool blas_needs_workspace(bool with_bias, DType) const noexcept override {
    return library_name() != nullptr && with_bias;
  }
  // Vendors' libraries refuse them.
  bool blas_takes_overlapping_rows() const noexcept override { return false; }
  void prepare_blas(const LaunchContext& context) override { prepare_library(context); }
  bool blas_gemm(const LaunchContext& context, const GemmParams& params) override {
    if (!library_gemm(context, params)) return false;
    if (params.bias != nullptr) launch_gemm_epilogue(context, params);
    return true;
  }
};

CudaBackend backend;

}  // namespace
}  // namespace relayout::RELAYOUT_BACKEND

/// The linker is told to look for this symbol, which brings the back end into the program.
extern "C" __attribute__((visibility("default"))) int relayout_backend_cuda;
int relayout_backend_cuda = [] {
  relayout::register_backend(relayout::RELAYOUT_BACKEND::backend);
  return 1;
}();
