// One faulty kernel per class of fault. A comment `fault: NAME` marks the lines that a report must name.
// faults NAME: runs the faulty kernel NAME on an emulated device. Exit status 0: nothing was noticed here; 3:
// wrong results; 4: the launch failed, with its sentence; another one: the sanitizer ended the program.
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernel_language.hpp"
#include "launch.hpp"
#include "relayout/relayout.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kThreads = 64;

// clang-format off
/// Nothing is wrong here: barriers in a loop, every kind of shared memory, warp operations, several blocks.
template <int W>
__global__ void clean(const float* in, float* out) {
  __shared__ float fixed[kThreads];
  RELAYOUT_DYNAMIC_SHARED(float, dynamic);
  const int place = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  float value = in[place];
  for (int round = 0; round < 4; ++round) {
    fixed[threadIdx.x] = value;
    __syncthreads();
    dynamic[threadIdx.x] = fixed[kThreads - 1 - threadIdx.x];
    __syncthreads();
    value = dynamic[(threadIdx.x + 1) % kThreads];
  }
  fixed[threadIdx.x] = value;
  warp_barrier<W>();
  value += fixed[threadIdx.x ^ 1u] + warp_shuffle_xor<W>(value, 2);
  if (warp_ballot<W>(value < 0) == 0) out[place] = value;
}

template <int N>
__global__ void missing_barrier(float* out) {
  __shared__ float tile[N];
  tile[threadIdx.x] = static_cast<float>(threadIdx.x);  // fault: missing_barrier
  out[threadIdx.x] = tile[N - 1 - threadIdx.x];         // fault: missing_barrier
}

__global__ void two_writers(float* out) {
  out[threadIdx.x / 2] = static_cast<float>(threadIdx.x);  // fault: two_writers
}

/// Sums a warp's values as if its threads moved in lock-step.
template <int W>
__global__ void lock_step(float* out) {
  __shared__ float values[kThreads];
  const int lane = lane_id<W>(), thread = static_cast<int>(threadIdx.x);
  values[thread] = 1.0f;
  warp_barrier<W>();
  for (int half = W / 2; half > 0; half /= 2)
    if (lane < half) values[thread] += values[thread + half];  // fault: lock_step
  __syncthreads();
  out[thread] = values[thread - lane];
}

/// A shuffle exchanges registers, it does not order memory.
template <int W>
__global__ void shuffle_as_barrier(float* out) {
  __shared__ float values[kThreads];
  const int thread = static_cast<int>(threadIdx.x);
  values[thread] = static_cast<float>(thread);  // fault: shuffle_as_barrier
  const int other = warp_shuffle_xor<W>(thread, 1);
  out[thread] = values[other];                  // fault: shuffle_as_barrier
}

__global__ void race_between_blocks(float* out) {
  if (threadIdx.x == 0) out[0] += static_cast<float>(blockIdx.x);  // fault: race_between_blocks
}

__global__ void divergent_barrier(float* out) {
  out[threadIdx.x] = 0.0f;
  if (threadIdx.x < 20) __syncthreads();  // fault: divergent_barrier
}

__global__ void misaligned_vector(const float* in, float* out) {
  float vector[4];
  load_global_16_bytes(vector, in + threadIdx.x);
  out[threadIdx.x] = vector[0];
}

__global__ void read_beyond_global(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x + 1];  // fault: read_beyond_global
}

__global__ void write_beyond_global(float* out) {
  out[threadIdx.x + 1] = 1.0f;  // fault: write_beyond_global
}

template <int N>
__global__ void read_beyond_static_shared(float* out) {
  __shared__ float values[N];
  values[threadIdx.x] = 1.0f;
  __syncthreads();
  const float* volatile read = values;  // its size is hidden from the compiler: AddressSanitizer must see it
  out[threadIdx.x] = read[threadIdx.x + 1];  // fault: read_beyond_static_shared
}

template <int N>
__global__ void write_beyond_static_shared(float* out) {
  __shared__ float values[N];
  float* volatile written = values;
  written[threadIdx.x + 1] = 1.0f;  // fault: write_beyond_static_shared
  __syncthreads();
  out[threadIdx.x] = values[threadIdx.x];
}

__global__ void read_beyond_dynamic_shared(float* out) {
  RELAYOUT_DYNAMIC_SHARED(float, values);
  values[threadIdx.x] = 1.0f;
  __syncthreads();
  out[threadIdx.x] = values[threadIdx.x + 1];  // fault: read_beyond_dynamic_shared
}

__global__ void write_beyond_dynamic_shared(float* out) {
  RELAYOUT_DYNAMIC_SHARED(float, values);
  values[threadIdx.x + 1] = 1.0f;  // fault: write_beyond_dynamic_shared
  __syncthreads();
  out[threadIdx.x] = values[threadIdx.x];
}

__global__ void uninitialised_shared(float* out) {
  RELAYOUT_DYNAMIC_SHARED(float, values);
  if (threadIdx.x != 5) values[threadIdx.x] = 1.0f;
  __syncthreads();
  out[threadIdx.x] = values[kThreads - 1 - threadIdx.x];
}

struct alignas(16) Four {
  float values[4];
};
__global__ void misaligned_access(const float* in, float* out) {
  const Four* const read = reinterpret_cast<const Four*>(in + 1);
  out[threadIdx.x] = read[0].values[threadIdx.x % 4];  // fault: misaligned_access
}

__global__ void use_after_free(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x];  // fault: use_after_free
}
// clang-format on

constexpr int kWarp = 32, kBlocks = 4;
constexpr std::size_t kShared = kThreads * sizeof(float);
constexpr std::size_t kBytes = kThreads * sizeof(float);

struct Run {
  Stream stream;
  Buffer in, out;  // of one element for each thread
  float* in_data() const { return static_cast<float*>(in.data()); }
  float* out_data() const { return static_cast<float*>(out.data()); }
  LaunchContext context() const { return {0, stream.native()}; }
};

LaunchShape blocks(int count, std::size_t shared = 0) { return {count, 1, 1, kThreads, 1, 1, shared}; }

using Fault = std::function<void(const Run&)>;

template <class... P>
Fault launch_out(LaunchShape shape, void (*kernel)(P...)) {
  return [=](const Run& run) { launch("fault", run.context(), shape, kernel, run.out_data()); };
}

template <class... P>
Fault launch_in_out(LaunchShape shape, void (*kernel)(P...)) {
  return
      [=](const Run& run) { launch("fault", run.context(), shape, kernel, run.in_data(), run.out_data()); };
}

void run_clean(const Run& run) {
  std::vector<float> in(kBlocks * kThreads, 1.0f), out(in.size());
  launch("clean", run.context(), blocks(kBlocks, kShared), clean<kWarp>, in.data(), out.data());
  std::copy(out.end() - kThreads, out.end(), run.out_data());
}

void run_use_after_free(const Run& run) {
  float* freed = nullptr;
  {
    const Buffer buffer(run.stream.device(), kBytes);
    freed = static_cast<float*>(buffer.data());
  }
  launch("fault", run.context(), blocks(1), use_after_free, freed, run.out_data());
}

/// Each fault, and what out would hold if the kernel were right; no value: no statement about the results.
struct Case {
  Fault run;
  std::function<float(int)> expected;
};

std::map<std::string, Case> cases() {
  const auto constant = [](float value) { return [value](int) { return value; }; };
  const auto reversed = [](int i) { return static_cast<float>(kThreads - 1 - i); };
  const auto neighbour = [](int i) { return static_cast<float>(i ^ 1); };
  return {
      {"clean", {run_clean, constant(3.0f)}},
      {"missing_barrier", {launch_out(blocks(1), missing_barrier<kThreads>), reversed}},
      {"two_writers", {launch_out(blocks(1), two_writers), {}}},
      {"lock_step", {launch_out(blocks(1), lock_step<kWarp>), constant(kWarp)}},
      {"shuffle_as_barrier", {launch_out(blocks(1), shuffle_as_barrier<kWarp>), neighbour}},
      {"race_between_blocks", {launch_out(blocks(kBlocks), race_between_blocks), {}}},
      {"divergent_barrier", {launch_out(blocks(1), divergent_barrier), {}}},
      {"misaligned_vector", {launch_in_out(blocks(1), misaligned_vector), {}}},
      {"read_beyond_global", {launch_in_out(blocks(1), read_beyond_global), {}}},
      {"write_beyond_global", {launch_out(blocks(1), write_beyond_global), {}}},
      {"read_beyond_static_shared", {launch_out(blocks(1), read_beyond_static_shared<kThreads>), {}}},
      {"write_beyond_static_shared", {launch_out(blocks(1), write_beyond_static_shared<kThreads>), {}}},
      {"read_beyond_dynamic_shared", {launch_out(blocks(1, kShared), read_beyond_dynamic_shared), {}}},
      {"write_beyond_dynamic_shared", {launch_out(blocks(1, kShared), write_beyond_dynamic_shared), {}}},
      {"uninitialised_shared", {launch_out(blocks(1, kShared), uninitialised_shared), constant(1.0f)}},
      {"misaligned_access", {launch_in_out(blocks(1), misaligned_access), {}}},
      {"use_after_free", {run_use_after_free, {}}},
  };
}

/// What out holds after a run in this order of threads.
std::vector<float> results(const Case& fault, ThreadOrder order) {
  EmulationOptions options;
  options.warp_size = kWarp;
  options.order = order;
  options.workers = 2;
  const Device device = Device::emulated(options);
  const Run run{Stream(device), Buffer(device, kBytes), Buffer(device, kBytes)};
  run.stream.fill(run.in.data(), 0, kBytes);
  run.stream.fill(run.out.data(), 0, kBytes);
  fault.run(run);
  return std::vector<float>(run.out_data(), run.out_data() + kThreads);
}

int run_case(const Case& fault) {
  const std::vector<float> forward = results(fault, ThreadOrder::forward),
                           reverse = results(fault, ThreadOrder::reverse);
  int wrong = 0;
  for (int i = 0; i < kThreads; ++i) {
    for (float value : {forward[i], reverse[i]}) {
      if (!fault.expected || value == fault.expected(i)) continue;
      if (++wrong == 1) std::printf("wrong result: element %d is %g, not %g\n", i, value, fault.expected(i));
    }
  }
  if (forward != reverse) std::printf("the results depend on the order of the threads\n");
  return wrong > 0 || forward != reverse ? 3 : 0;
}

int run(const std::string& name) {
  const std::map<std::string, Case> all = cases();
  const auto found = all.find(name);
  if (found == all.end()) {
    std::printf("there is no fault '%s'\n", name.c_str());
    return 2;
  }
  try {
    return run_case(found->second);
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
    return 4;
  }
}

}  // namespace
}  // namespace relayout::RELAYOUT_BACKEND

int main(int count, char** arguments) {
  return relayout::RELAYOUT_BACKEND::run(count == 2 ? arguments[1] : "");
}
