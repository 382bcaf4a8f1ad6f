#include "bench/random/oracle.hpp"

#include <algorithm>
#include <cstdlib>

#include "bench/random/draw.hpp"
#include "bench/random/functions.hpp"
#include "bench/random/host_tensor.hpp"
#include "bench/random/prepare.hpp"
#include "bench/random/window_oracle.hpp"
#include "host/api/operation_rules.hpp"
#include "host/reference/accuracy.hpp"
#include "host/reference/quantized.hpp"

namespace relayout::bench::random {
namespace {

using Views = std::vector<TensorView>;

/// As long as an axis has room, one is made twice as long.
Box draw_box(Draw& draw, const Dims& shape, const char* where) {
  Dims extents(shape.size(), 1);
  std::int64_t elements = 1;
  for (int i = 0; i < 64 && 2 * elements <= kBoxElements; ++i) {
    const std::size_t axis = static_cast<std::size_t>(draw.below(static_cast<std::int64_t>(shape.size())));
    if (2 * extents[axis] > shape[axis]) continue;
    extents[axis] *= 2;
    elements *= 2;
  }
  Box box;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::int64_t room = shape[axis] - extents[axis], anywhere = draw.between(0, room);
    const std::int64_t begin = where[0] == 'f' ? 0 : where[0] == 'l' ? room : anywhere;
    box.begin.push_back(begin);
    box.end.push_back(begin + extents[axis]);
  }
  return box;
}

std::vector<Box> boxes_of(const Problem& problem) {
  const Dims& shape = problem.out.shape;
  if (problem.out.view(nullptr).elements() <= kWholeElements) return {{Dims(shape.size(), 0), shape}};
  Draw draw(static_cast<std::uint64_t>(problem.index));
  std::vector<Box> boxes;
  for (const char* const where : {"first", "last", "any", "any"})
    boxes.push_back(draw_box(draw, shape, where));
  return boxes;
}

/// The type in which the operation works.
DType common_type_of(Operation operation, DType type) {
  const OperationKind kind = rule_of(operation).kind;
  const bool real = kind == OperationKind::floating || kind == OperationKind::predicate;
  return real && !is_floating(type) ? DType::f32 : type;
}

bool agrees_with_operation(const Problem& problem, const std::vector<HostTensor>& inputs, const Dims& index,
                           std::uint64_t got) {
  const Operation operation = operation_of(problem.function);
  const DType common = common_type_of(operation, problem.inputs[0].type);
  std::uint64_t bits[3] = {};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::uint64_t element = reference::load_bits(inputs[i].view(), index);
    const DType type = problem.inputs[i].type;
    bits[i] = reference::is_logical(operation) ? reference::truth(type, element)
                                               : reference::convert_bits(element, type, common);
  }
  const reference::IsCloseTolerance tolerance;
  const std::uint64_t expected = reference::apply(operation, common, bits[0], bits[1], bits[2], tolerance);
  if (reference::result_type(operation, common) == DType::bool_) return got == expected;
  return reference::agrees(operation, common, got, expected);
}

int code_of(DType type, std::uint64_t bits) {
  return type == DType::i8 ? static_cast<std::int8_t>(bits) : static_cast<std::uint8_t>(bits);
}

/// Sums and products may give the neighbouring code beside a tie; conversions are exact.
bool agrees_with_quantized(const Problem& problem, const std::vector<HostTensor>& inputs, const Dims& index,
                           std::uint64_t got) {
  const std::size_t operands = operands_of(problem);
  Views views;
  for (const HostTensor& input : inputs) views.push_back(input.view());
  const auto numbers = [&](std::size_t i, const TensorView& codes) {
    const QuantizedTensor tensor = quantized_tensor(problem, i, codes, views);
    const auto* scales = std::get_if<TensorView>(&tensor.scale);
    const float scale = scales != nullptr ? static_cast<float>(reference::load(*scales, index))
                                          : std::get<float>(tensor.scale);
    return std::make_pair(scale, std::get<int>(tensor.zero));
  };
  const bool is_unsigned = problem.out.type == DType::u8;
  if (problem.function == "quantize") {
    const auto [scale, zero] = numbers(1, {});
    return got ==
           (reference::quantize(reference::load_bits(views[0], index), scale, zero, is_unsigned) & 255);
  }
  std::vector<reference::QuantizedNumber> codes;
  for (std::size_t i = 0; i < operands; ++i) {
    const auto [scale, zero] = numbers(i, views[i]);
    codes.push_back({code_of(views[i].dtype(), reference::load_bits(views[i], index)), scale, zero});
  }
  if (problem.function == "dequantize") return got == reference::dequantize(codes[0]);
  const auto [scale, zero] = numbers(operands, {});
  const std::uint64_t expected =
      reference::quantized(operation_of(problem.function), codes, scale, zero, is_unsigned);
  return std::abs(code_of(problem.out.type, got) - code_of(problem.out.type, expected)) <= 1;
}

bool agrees(const Problem& problem, const std::vector<HostTensor>& inputs, const Dims& index,
            std::uint64_t got) {
  if (problem.family == Family::quantized) return agrees_with_quantized(problem, inputs, index, got);
  if (!problem.function.empty()) return agrees_with_operation(problem, inputs, index, got);
  const std::uint64_t bits = reference::load_bits(inputs[0].view(), index);
  return got == reference::convert_bits(bits, problem.inputs[0].type, problem.out.type);
}

/// Both halves of elements of 16 bytes.
bool same_bytes(const TensorView& a, const TensorView& b, const Dims& index) {
  const char *x = reference::address(a, index), *y = reference::address(b, index);
  return std::equal(x, x + size_of(a.dtype()), y);
}

std::string check_box(const Stream& stream, const Problem& problem, const Views& inputs,
                      const TensorView& out, const Box& box) {
  std::vector<HostTensor> tensors;
  for (const TensorView& input : inputs) tensors.emplace_back(stream, input, box);
  const HostTensor result(stream, out, box);
  std::int64_t wrong = 0;
  Dims first;
  reference::for_each_index(result.view().shape(), [&](const Dims& index) {
    const bool right = problem.out.type == DType::b128
                           ? same_bytes(tensors[0].view(), result.view(), index)
                           : agrees(problem, tensors, index, reference::load_bits(result.view(), index));
    if (right) return;
    if (wrong++ == 0) first = index;
  });
  return wrong == 0 ? "" : mismatch(wrong, box, first);
}

}  // namespace

std::string check_by_reference(const Stream& stream, const Problem& problem, const Views& inputs,
                               const TensorView& out) {
  const bool window = problem.family == Family::img2col || problem.family == Family::pad;
  for (const Box& box : boxes_of(problem)) {
    const std::string wrong = window ? check_window_box(stream, problem, inputs[0], out, box)
                              : problem.family == Family::depthwise
                                  ? check_depthwise_box(stream, problem, inputs, out, box)
                                  : check_box(stream, problem, inputs, out, box);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace relayout::bench::random
