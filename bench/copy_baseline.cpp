#include "bench/copy_baseline.hpp"

#include <algorithm>
#include <cstring>

#include "bench/rotation.hpp"
#include "host/cpu/parallel.hpp"

namespace relayout::bench {
namespace {

void copy_by_threads(void* target, const void* source, std::int64_t bytes) {
  native::parallel_ranges(bytes, bytes, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(static_cast<char*>(target) + begin, static_cast<const char*>(source) + begin,
                static_cast<std::size_t>(end - begin));
  });
}

void triad(const float* a, const float* b, float* c, std::int64_t count) {
  native::parallel_ranges(count, count, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) c[i] = a[i] + 3 * b[i];
  });
}

/// Reads two thirds of each of two memories, and writes the other third.
void triad_in_both(float* one, float* other, std::int64_t count) {
  const std::int64_t third = count / 3;
  triad(one, other, one + 2 * third, third);
  triad(one + third, other + third, other + 2 * third, third);
}

}  // namespace

std::vector<Copier> prepare_copiers(const Stream& stream, std::int64_t bytes) {
  const std::int64_t each = std::max<std::int64_t>(2 * sizeof(float), bytes) / 2;
  const Operand operand = contiguous_operand(DType::f32, {each / static_cast<std::int64_t>(sizeof(float))});
  const std::size_t copied = static_cast<std::size_t>(operand.bytes());
  using Views = std::vector<TensorView>;

  Prepared by_cast = prepare_rotated(stream, {operand, operand},
                                     [stream](const Views& views) { cast(stream, views[0], views[1]); });
  // Neither the vendor's copy nor the host's is recorded in a graph.
  const auto on_same_memory = [&](const std::function<void(void*, void*)>& copy) {
    Prepared prepared;
    prepared.memory = by_cast.memory;
    prepared.in_graph = false;
    for (std::size_t set = 0; set < by_cast.calls.size(); ++set) {
      void* const source = by_cast.memory[2 * set].data();
      void* const target = by_cast.memory[2 * set + 1].data();
      prepared.calls.push_back([copy, target, source] { copy(target, source); });
    }
    return prepared;
  };
  std::vector<Copier> copiers;
  copiers.push_back({"Stream::copy", on_same_memory([stream, copied](void* target, void* source) {
                       stream.copy(target, source, copied);
                     })});
  if (stream.device().kind() == DeviceKind::cpu) {
    copiers.push_back({"memcpy by threads", on_same_memory([copied](void* target, void* source) {
                         copy_by_threads(target, source, static_cast<std::int64_t>(copied));
                       })});
    copiers.push_back({kTriad, on_same_memory([copied](void* target, void* source) {
                         triad_in_both(static_cast<float*>(source), static_cast<float*>(target),
                                       static_cast<std::int64_t>(copied / sizeof(float)));
                       })});
  }
  copiers.push_back({"cast f32 to f32", std::move(by_cast)});
  return copiers;
}

}  // namespace relayout::bench
