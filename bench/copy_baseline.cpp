#include "bench/copy_baseline.hpp"

#include <algorithm>
#include <cstring>

#include "bench/rotation.hpp"
#include "host/native/parallel.hpp"

namespace relayout::bench {
namespace {

void copy_by_threads(void* target, const void* source, std::int64_t bytes) {
  native::parallel_ranges(bytes, bytes, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(static_cast<char*>(target) + begin, static_cast<const char*>(source) + begin,
                static_cast<std::size_t>(end - begin));
  });
}

}  // namespace

std::vector<Copier> prepare_copiers(const Stream& stream, std::int64_t bytes) {
  const std::int64_t each = std::max<std::int64_t>(2 * sizeof(float), bytes) / 2;
  const Operand operand = contiguous_operand(DType::f32, {each / static_cast<std::int64_t>(sizeof(float))});
  const std::size_t copied = static_cast<std::size_t>(operand.bytes());
  using Views = std::vector<TensorView>;

  Prepared by_cast = prepare_rotated(stream, {operand, operand},
                                     [stream](const Views& views) { cast(stream, views[0], views[1]); });
  // Neither the vendor's copy nor the host's is recorded.
  const auto on_same_memory = [&](const std::function<void(void*, const void*)>& copy) {
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
  copiers.push_back({"Stream::copy", on_same_memory([stream, copied](void* target, const void* source) {
                       stream.copy(target, source, copied);
                     })});
  if (stream.device().kind() == DeviceKind::cpu)
    copiers.push_back({"memcpy by threads", on_same_memory([copied](void* target, const void* source) {
                         copy_by_threads(target, source, static_cast<std::int64_t>(copied));
                       })});
  copiers.push_back({"cast f32 to f32", std::move(by_cast)});
  return copiers;
}

}  // namespace relayout::bench
