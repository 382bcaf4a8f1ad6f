// planning_bench: what planning a permutation costs on the host, for an H200 that need not be there. Google
// Benchmark's own arguments; the case's number is the rank.
#include <benchmark/benchmark.h>

#include <numeric>
#include <vector>

#include <relayout/relayout.hpp>

namespace {

using relayout::Dims;

void plan_reversal(benchmark::State& state, relayout::DType type) {
  const auto rank = static_cast<std::size_t>(state.range(0));
  const Dims primes{13, 11, 7, 17, 5, 19, 3, 23};
  const Dims shape(primes.begin(), primes.begin() + static_cast<std::ptrdiff_t>(rank));
  const Dims out_shape(shape.rbegin(), shape.rend());
  std::vector<int> axes(rank);
  std::iota(axes.rbegin(), axes.rend(), 0);
  const relayout::TensorView in(nullptr, type, shape), out(nullptr, type, out_shape);
  const relayout::DeviceProperties device = relayout::DeviceProperties::h200();
  for (auto _ : state) benchmark::DoNotOptimize(relayout::plan_permute(device, in, axes, out));
}

void all_ranks(benchmark::internal::Benchmark* benchmark) {
  benchmark->DenseRange(2, 8)->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(plan_reversal, u8, relayout::DType::u8)->Apply(all_ranks);
BENCHMARK_CAPTURE(plan_reversal, f32, relayout::DType::f32)->Apply(all_ranks);

}  // namespace

BENCHMARK_MAIN();
