#include "bench/random/generator.hpp"

#include <algorithm>

#include "bench/random/draw.hpp"
#include "bench/random/functions.hpp"
#include "bench/random/shapes.hpp"
#include "bench/random/window_generator.hpp"
#include "core/bytes.hpp"

namespace relayout::bench::random {
namespace {

/// Drawn problems miss the size that they aim at; so many are drawn at most until one lies in the range.
constexpr int kMaxAttempts = 64;

DType draw_movable_type(Draw& draw) {
  std::vector<DType> types = castable_types();
  types.push_back(DType::b128);
  return draw.pick(types);
}

Placing draw_contiguous(Draw& draw) {
  Placing placing;
  placing.misaligned = draw.one_in(4);
  return placing;
}

void draw_permute(Draw& draw, std::int64_t bytes, Problem& problem) {
  const DType type = draw_movable_type(draw);
  const Dims shape = draw_shape(draw, bytes / (2 * bytes_of(type)));
  Placing in = draw_contiguous(draw);
  in.order = draw_order(draw, shape.size());
  problem.inputs = {place(draw, type, shape, in)};
  const Placing out = draw_contiguous(draw);
  problem.out = place(draw, type, shape, out);
}

void draw_slice(Draw& draw, std::int64_t bytes, Problem& problem) {
  const DType type = draw_movable_type(draw);
  const Dims shape = draw_shape(draw, bytes / (2 * bytes_of(type)));
  Placing in = draw_contiguous(draw);
  in.sliced = in.stepped = true;
  problem.inputs = {place(draw, type, shape, in)};
  const Placing out = draw_contiguous(draw);
  problem.out = place(draw, type, shape, out);
}

void draw_cast(Draw& draw, std::int64_t bytes, Problem& problem) {
  const std::vector<DType>& types = castable_types();
  const std::size_t in_at = static_cast<std::size_t>(draw.below(static_cast<std::int64_t>(types.size())));
  const std::size_t further = static_cast<std::size_t>(draw.between(1, static_cast<int>(types.size()) - 1));
  const DType in_type = types[in_at], out_type = types[(in_at + further) % types.size()];
  const Dims shape = draw_shape(draw, bytes / (bytes_of(in_type) + bytes_of(out_type)));
  Placing in = draw_placing(draw, shape.size(), false);
  const bool transposed = draw.one_in(2);
  const std::vector<int> order = draw_order(draw, shape.size());
  in.order = transposed ? order : std::vector<int>();
  problem.inputs = {place(draw, in_type, shape, in)};
  Placing out = draw_placing(draw, shape.size(), false);
  out.order.clear();
  problem.out = place(draw, out_type, shape, out);
}

/// The operands and the output, each laid out by itself.
void draw_operands(Draw& draw, std::int64_t bytes, const std::vector<DType>& in_types, DType out_type,
                   Problem& problem) {
  std::int64_t of_one = bytes_of(out_type);
  for (const DType type : in_types) of_one += bytes_of(type);
  const Dims shape = draw_shape(draw, bytes / of_one);
  for (const DType type : in_types) {
    const Placing placing = draw_placing(draw, shape.size(), in_types.size() > 1);
    problem.inputs.push_back(place(draw, type, shape, placing));
  }
  const Placing placing = draw_placing(draw, shape.size(), false);
  problem.out = place(draw, out_type, shape, placing);
}

void draw_binary(Draw& draw, std::int64_t bytes, Problem& problem) {
  const Function& function = draw.pick(functions_of(Family::binary));
  const DType type = draw.pick(function.types());
  problem.function = function.name;
  draw_operands(draw, bytes, {type, type}, function.result(type), problem);
}

/// Three problems in four are of f16, bf16 and f32, where the function takes them.
void draw_unary(Draw& draw, std::int64_t bytes, Problem& problem) {
  static const std::vector<DType> kUsual{DType::f16, DType::bf16, DType::f32};
  const Function& function = draw.pick(functions_of(Family::unary));
  const bool any = draw.one_in(4) || function.takes == Function::Takes::bits;
  const DType type = any ? draw.pick(function.types()) : draw.pick(kUsual);
  problem.function = function.name;
  draw_operands(draw, bytes, {type}, function.result(type), problem);
}

/// A scale for each index along one axis.
Tensor channel_scales(const Dims& shape, std::size_t axis) {
  Tensor scales{DType::f32, shape, Dims(shape.size(), 0), 0};
  scales.strides[axis] = 1;
  return scales;
}

/// Scales of whole tensors are so many 1024ths.
void draw_quantized(Draw& draw, std::int64_t bytes, Problem& problem) {
  static const std::vector<DType> kCodes{DType::i8, DType::u8};
  const std::string function = draw.pick(quantized_functions());
  const DType codes = draw.pick(kCodes);
  const bool quantizes = function == "quantize", dequantizes = function == "dequantize";
  const bool two = !quantizes && !dequantizes && operands_of(operation_of(function)) == 2;
  const DType in_type = quantizes ? DType::f32 : codes, out_type = dequantizes ? DType::f32 : codes;
  problem.function = function;
  draw_operands(draw, bytes, std::vector<DType>(two ? 2 : 1, in_type), out_type, problem);
  const std::size_t tensors = problem.inputs.size() + 1;
  const Dims& shape = problem.out.shape;
  const bool channels = draw.one_in(2);
  const std::size_t axis = static_cast<std::size_t>(draw.below(static_cast<std::int64_t>(shape.size())));
  for (std::size_t i = 0; i < tensors; ++i) {
    const std::string number = std::to_string(i);
    const std::int64_t scale = draw.between(16, 128), zero = draw.between(0, 100);
    const DType type = i + 1 == tensors ? out_type : in_type;
    if (type == DType::f32) continue;
    problem.options["zero" + number] = std::to_string(zero);
    if (!channels) problem.options["scale" + number] = std::to_string(scale);
    if (channels) problem.inputs.push_back(channel_scales(shape, axis));
  }
}

void draw_problem(Draw& draw, std::int64_t bytes, Problem& problem) {
  switch (problem.family) {
    case Family::permute:
      return draw_permute(draw, bytes, problem);
    case Family::slice:
      return draw_slice(draw, bytes, problem);
    case Family::cast:
      return draw_cast(draw, bytes, problem);
    case Family::binary:
      return draw_binary(draw, bytes, problem);
    case Family::unary:
      return draw_unary(draw, bytes, problem);
    case Family::depthwise:
      return draw_depthwise(draw, bytes, problem);
    case Family::img2col:
      return draw_img2col(draw, bytes, problem);
    case Family::pad:
      return draw_pad(draw, bytes, problem);
    case Family::quantized:
      return draw_quantized(draw, bytes, problem);
  }
}

/// An octave of the range, each alike, and a number in it.
std::int64_t draw_bytes(Draw& draw, const Bytes& range) {
  std::int64_t octaves = 1;
  while (range.least << octaves < range.most) ++octaves;
  const std::int64_t low = range.least << draw.below(octaves);
  return draw.between(low, std::max(low, std::min(2 * low, range.most)));
}

}  // namespace

Problem generate(std::uint64_t seed, Family family, std::int64_t index, const Bytes& bytes) {
  Draw of_seed(seed), of_family(of_seed.next() + static_cast<std::uint64_t>(family));
  Draw draw(of_family.next() + static_cast<std::uint64_t>(index));
  Draw draws(draw.next());
  for (int attempt = 1;; ++attempt) {
    Problem problem;
    problem.generator = kGeneratorVersion;
    problem.seed = seed;
    problem.index = index;
    problem.family = family;
    const std::int64_t aim = draw_bytes(draws, bytes);
    draw_problem(draws, aim, problem);
    const std::int64_t drawn = problem.bytes();
    if ((drawn >= bytes.least && drawn <= bytes.most) || attempt == kMaxAttempts) return problem;
  }
}

}  // namespace relayout::bench::random
