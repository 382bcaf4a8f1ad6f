// Random operations on 8-bit codes: scales and zero points for all codes, for channels at any position and
// for each element; codes together with tensors of f32 and constants; conversions; in place.
#include "tests/fuzz/quantized_cases.hpp"

#include "core/elementwise_params.hpp"
#include "host/api/operation_rules.hpp"
#include "tests/fuzz/operand_shapes.hpp"
#include "tests/support/quantized_case.hpp"

namespace relayout::fuzz {
namespace {

using test::CodesCase;
using test::QuantizedCase;
using test::TensorSpec;
using Kind = OperationKind;
using Op = relayout::Operation;  // fuzz::Operation is one of the driver's

/// The operations for which kernels have vectors of 16 codes, and all others.
Op draw_quantized(Draw& draw) {
  static constexpr Op kHot[] = {Op::add, Op::mul, Op::sub};
  const Op hot = draw.pick(kHot), any = static_cast<Op>(draw.below(kOperations));
  const Kind kind = rule_of(any).kind;
  const bool taken = kind != Kind::bits && kind != Kind::shift && kind != Kind::logical && any != Op::isclose;
  return draw.chance(160) && taken ? any : hot;
}

/// Usual scales, and now and then powers of two and scales that cannot be folded into factors.
float draw_scale(Draw& draw) {
  static constexpr float kUsual[] = {0.05f, 0.25f, 1, 0.0371f, 0.5f, 0.7f, 3, 0.0103f, 0.08f};
  static constexpr float kExtreme[] = {0x1p-40f, 0x1p40f, 0x1p-41f, 1e-30f, 1e20f, 3e38f, 1e-38f, 0x1p-149f};
  const bool extreme = draw.chance(32);
  const float usual = draw.pick(kUsual), other = draw.pick(kExtreme);
  return extreme ? other : usual;
}

CodesCase draw_codes(Draw& draw) {
  CodesCase c;
  c.type = draw.chance(96) ? DType::u8 : DType::i8;
  c.scale = draw_scale(draw);
  const int zero = draw.byte();
  c.zero = c.type == DType::u8 || zero < 128 ? zero : zero - 256;
  return c;
}

/// Channels along some axes of the codes, each with a number of its own; leading axes may be missing.
std::optional<Dims> draw_channels(Draw& draw, const Dims& shape, bool possible) {
  const bool channels = draw.chance(72) && possible;
  const int axes = draw.byte(), shorter = draw.byte();
  if (!channels) return std::nullopt;
  Dims result = shape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if ((axes >> axis % 8 & 1) == 0) result[axis] = 1;
  }
  while (shorter >= 128 && !result.empty() && result[0] == 1) result.erase(result.begin());
  return result;
}

/// The scales of channels are up to four times the first one.
void draw_numbers(Draw& draw, CodesCase& c, int& tensors) {
  c.scale_channels = draw_channels(draw, c.shape, c.scale < 1e37f && tensors < kMaxTensors);
  if (c.scale_channels) ++tensors;
  c.zero_channels = draw_channels(draw, c.shape, tensors < kMaxTensors);
  if (c.zero_channels) ++tensors;
}

template <class Tensor>
void place(Draw& draw, Tensor& tensor, const Dims& shape, bool input, bool tidy) {
  const Placed in_memory = draw_placed(draw, shape, input, tidy);
  tensor.shape = shape;
  tensor.strides = in_memory.strides;
  tensor.misaligned = in_memory.misaligned;
}

/// Each is codes, a tensor of f32 or a constant; at least one is a tensor.
void draw_operands(Draw& draw, QuantizedCase& c, bool codes_alone, bool floats_alone) {
  static constexpr float kConstants[] = {1.5f, 0, -2, 0.1f, 6, 1e30f, -0.5f};
  const int count = c.operation ? operands_of(*c.operation) : 1, first = draw.below(count);
  for (int i = 0; i < count; ++i) {
    const int kind = draw.byte();
    const float constant = draw.pick(kConstants);
    const CodesCase codes = draw_codes(draw);
    if (floats_alone || (kind >= 208 && !codes_alone)) {
      c.operands.emplace_back(TensorSpec{DType::f32, {}, {}, 0});
    } else if (kind >= 168 && i != first && !codes_alone) {
      c.operands.emplace_back(constant);
    } else {
      c.operands.emplace_back(codes);
    }
  }
}

void draw_tensors(Draw& draw, QuantizedCase& c) {
  std::size_t count = 0;
  for (const auto& operand : c.operands) count += std::holds_alternative<float>(operand) ? 0 : 1;
  const bool tidy = draw.chance(80);
  const OperandShapes shapes = draw_shapes(draw, tidy, count, Broadcasting::numpy);
  const auto place_out = [&](auto& out) { place(draw, out, shapes.shape, false, tidy); };
  std::visit(place_out, c.out);
  int tensors = static_cast<int>(count);
  std::size_t next = 0;
  for (auto& operand : c.operands) {
    if (auto* codes = std::get_if<CodesCase>(&operand)) {
      place(draw, *codes, shapes.operands[next++], true, tidy);
      draw_numbers(draw, *codes, tensors);
    } else if (auto* spec = std::get_if<TensorSpec>(&operand)) {
      place(draw, *spec, shapes.operands[next++], true, tidy);
    }
  }
  if (auto* codes = std::get_if<CodesCase>(&c.out)) draw_numbers(draw, *codes, tensors);
}

/// The first operand that has the output's shape and size of elements.
void draw_in_place(Draw& draw, QuantizedCase& c) {
  if (!draw.chance(56)) return;
  const auto lay_over = [&](auto& operand, std::size_t i) {
    const auto* out = std::get_if<std::decay_t<decltype(operand)>>(&c.out);
    if (c.in_place >= 0 || out == nullptr || operand.shape != out->shape ||
        size_of(operand.type) != size_of(out->type))
      return;
    operand.strides = out->strides;
    operand.misaligned = out->misaligned;
    c.in_place = static_cast<int>(i);
  };
  for (std::size_t i = 0; i < c.operands.size(); ++i) {
    if (auto* codes = std::get_if<CodesCase>(&c.operands[i])) lay_over(*codes, i);
    if (auto* spec = std::get_if<TensorSpec>(&c.operands[i])) lay_over(*spec, i);
  }
}

}  // namespace

Trial decode_quantized(Draw& draw) {
  QuantizedCase c;
  const int conversion = draw.byte();
  const Op operation = draw_quantized(draw);
  if (conversion < 216) c.operation = operation;
  const bool quantizes = !c.operation && conversion % 2 == 0, dequantizes = !c.operation && !quantizes;
  draw_operands(draw, c, draw.chance(128) || dequantizes, quantizes);
  const CodesCase codes = draw_codes(draw);
  const bool numbers = draw.chance(56);
  const bool to_bool = c.operation && gives_bool(rule_of(operation).kind);
  if (to_bool || dequantizes || (numbers && !quantizes)) {
    c.out = TensorSpec{to_bool ? DType::bool_ : DType::f32, {}, {}, 0};
  } else {
    c.out = codes;
  }
  draw_tensors(draw, c);
  draw_in_place(draw, c);
  // copysign takes the sign of a NaN, which has no meaning.
  c.values = draw.chance(128) && operation != Op::copysign ? test::Values::interesting : test::Values::halves;
  c.planned = draw.chance(32);
  const auto seed = static_cast<std::uint64_t>(draw.byte());
  return trial_of(c, [seed](const Stream& stream, const QuantizedCase& quantized) {
    test::check(stream, quantized, seed);
  });
}

}  // namespace relayout::fuzz
