// Contiguous copies: the ceiling itself, by the vendor's copy and by relayout's.
#include "bench/bench_case.hpp"
#include "bench/rotation.hpp"

namespace relayout::bench {
namespace {

std::vector<std::int64_t> total_bytes(Sizes sizes) {
  constexpr std::int64_t kMiB = 1 << 20;
  switch (sizes) {
    case Sizes::gpu:
      return {1 * kMiB, 4 * kMiB, 16 * kMiB, 64 * kMiB, 256 * kMiB, 1024 * kMiB, 2048 * kMiB};
    case Sizes::cpu:
      return {64 * kMiB, 256 * kMiB};
    default:
      return {1 << 16};
  }
}

std::string size_text(std::int64_t bytes) {
  return bytes >= 1 << 20 ? std::to_string(bytes >> 20) + "MiB" : std::to_string(bytes >> 10) + "KiB";
}

BenchCase copy_case(const char* by, bool in_graph, std::int64_t bytes,
                    const std::function<void(const Stream&, const TensorView&, const TensorView&)>& copy) {
  const Operand operand = contiguous_operand(DType::f32, {bytes / 2 / 4});
  const Json parameters = {
      {"operation", "copy"}, {"in_type", "f32"}, {"out_type", "f32"}, {"shape", operand.shape}};
  const std::string name = by + ("/" + size_text(bytes));
  return {
      "copy", name, bytes, parameters, "copy by " + name, [operand, copy, in_graph](const Stream& stream) {
        Prepared prepared = prepare_rotated(
            stream, {operand, operand},
            [stream, copy](const std::vector<TensorView>& views) { copy(stream, views[0], views[1]); });
        prepared.in_graph = in_graph;
        return prepared;
      }};
}

}  // namespace

BenchCases copy_cases(Sizes sizes) {
  BenchCases list;
  for (const std::int64_t bytes : total_bytes(sizes)) {
    list.push_back(copy_case(
        "stream", false, bytes, [](const Stream& stream, const TensorView& in, const TensorView& out) {
          stream.copy(out.data(), in.data(), static_cast<std::size_t>(in.elements()) * size_of(in.dtype()));
        }));
    list.push_back(copy_case(
        "relayout", true, bytes,
        [](const Stream& stream, const TensorView& in, const TensorView& out) { cast(stream, in, out); }));
  }
  return list;
}

}  // namespace relayout::bench
