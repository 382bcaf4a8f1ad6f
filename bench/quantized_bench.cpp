// 8-bit codes: add and mul of images with one scale, with a scale for each channel, and with an operand of
// channels.
#include <relayout/quantized.hpp>

#include <string>
#include <vector>

#include "bench/bench_case.hpp"
#include "bench/case_json.hpp"
#include "bench/rotation.hpp"

namespace relayout::bench {
namespace {

constexpr float kScales[3] = {0.05f, 0.03f, 0.06f};  // of a, b and the output
constexpr int kZeros[3] = {3, -5, 7};

struct QuantizedCase {
  std::string name;
  Operation operation;
  Dims image, second;  // the shapes of a and the output, and of b
  Dims channels = {};  // the shape of each one's tensor of scales; none: one for all

  Dims shape(std::size_t operand) const { return operand == 1 ? second : image; }
};

/// views: of a and b; of the scales, where they are tensors; of the output.
void run(const Stream& stream, const QuantizedCase& c, const std::vector<TensorView>& views) {
  QuantizedTensor tensors[3];
  for (std::size_t i = 0; i < 3; ++i) {
    tensors[i] = {i == 2 ? views.back() : views[i], kScales[i], kZeros[i]};
    if (!c.channels.empty()) tensors[i].scale = views[i + 2];
  }
  quantized(stream, c.operation, {tensors[0], tensors[1]}, tensors[2]);
}

/// Random numbers are not valid scales. `operands` are those of each set; views[2] to [4] are scales.
void fill_scales(const Stream& stream, const Prepared& prepared, std::size_t operands) {
  for (std::size_t at = 0; at < prepared.memory.size(); ++at) {
    const std::size_t operand = at % operands;
    if (operand < 2 || operand + 1 == operands) continue;
    const Buffer& scales = prepared.memory[at];
    const std::vector<float> numbers(scales.bytes() / sizeof(float), kScales[operand - 2]);
    stream.copy(scales.data(), numbers.data(), scales.bytes());
  }
  stream.synchronize();
}

BenchCase bench_case(const QuantizedCase& c) {
  std::vector<Operand> memory;
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    memory.push_back(contiguous_operand(DType::i8, c.shape(i)));
    bytes += TensorView(nullptr, DType::i8, c.shape(i)).elements();
  }
  if (!c.channels.empty()) {
    for (int i = 0; i < 3; ++i) {
      memory.insert(memory.end() - 1, contiguous_operand(DType::f32, c.channels));
      bytes += TensorView(nullptr, DType::f32, c.channels).elements() * 4;
    }
  }
  const Json json = {{"operation", "quantized"}, {"function", name_of(c.operation)},
                     {"image", c.image},         {"second", c.second},
                     {"channels", c.channels},   {"scales", kScales},
                     {"zeros", kZeros},          {"out_type", "i8"}};
  const std::string printed = std::string(name_of(c.operation)) + " i8" + to_string(c.image) + " i8" +
                              to_string(c.second) +
                              (c.channels.empty() ? "" : ", scales f32" + to_string(c.channels));
  return {"quantized", c.name, bytes, json, printed, [c, memory](const Stream& stream) {
            Prepared prepared = prepare_rotated(
                stream, memory, [stream, c](const std::vector<TensorView>& views) { run(stream, c, views); });
            if (!c.channels.empty()) fill_scales(stream, prepared, memory.size());
            return prepared;
          }};
}

std::vector<QuantizedCase> cases_of(std::int64_t batch, std::int64_t channels, std::int64_t side) {
  const Dims image{batch, channels, side, side}, each{1, channels, 1, 1};
  return {{"add", Operation::add, image, image},
          {"mul", Operation::mul, image, image},
          {"add_channel_scales", Operation::add, image, image, each},
          {"mul_channel_scales", Operation::mul, image, image, each},
          {"add_channels", Operation::add, image, each},
          {"mul_channels", Operation::mul, image, each},
          {"truediv", Operation::truediv, image, image}};
}

}  // namespace

BenchCases quantized_cases(Sizes sizes) {
  const std::vector<QuantizedCase> cases = sizes == Sizes::gpu   ? cases_of(64, 256, 56)
                                           : sizes == Sizes::cpu ? cases_of(8, 256, 56)
                                                                 : cases_of(2, 5, 7);
  BenchCases list;
  for (const QuantizedCase& c : cases) list.push_back(bench_case(c));
  return list;
}

}  // namespace relayout::bench
