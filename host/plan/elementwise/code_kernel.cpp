#include "host/plan/elementwise/code_kernel.hpp"

#include <algorithm>

#include "core/sector.hpp"
#include "host/plan/elementwise/elementwise_rows.hpp"
#include "host/plan/elementwise/elementwise_strips.hpp"
#include "host/plan/elementwise/kernel_obstacles.hpp"

namespace relayout::plan {
namespace {

/// Vectors of the shortest rows of codes that are moved in vectors where rows end inside one: shorter ones
/// take 1.06 to 2.4 times the time of strips on an H200. (Between 4 and 16 vectors there was no random
/// problem.)
constexpr std::int64_t kShortestCutCodeRow = 4;

/// What a scale for each code adds to the cost of a strip: microseconds for a million elements. On an H200,
/// where strips of codes that share a scale cost 3 more than strips of codes with scales of their own, the
/// latter save 0.11 to 0.52 of the time (7 random problems). Where they cost 0 to 2 more, the latter are
/// slower in 38 of 46.
constexpr double kOwnScale = 3;

bool differs(const TensorOperand& tensor) { return tensor.access != Access::repeated; }
bool is_aligned(Access access) { return access == Access::aligned || access == Access::repeated; }

/// A cheap operation or none, on codes and floating tensors of up to 4 bytes, to such or to codes.
const char* obstacle_to_one_on_codes(const ElementwiseParams& p) {
  if (p.steps > 1) return "there are several operations";
  if (has_costly(p)) return "the operation takes many instructions";
  if (p.flush_to_zero || p.rounding != Rounding::nearest_even)
    return "a rounding or flush_to_zero is asked for";
  if (!p.fits_32_bits) return "offsets need 64 bits";
  if (p.convert || p.result != DType::f32) return "the result is cast";
  if (p.steps == 1 && p.step[0].operands == 3 && p.argument[2].tensor >= 0) return "there are three tensors";
  for (int i = 0; i < p.arguments; ++i) {
    const int tensor = p.argument[i].tensor;
    if (tensor < 0 || p.tensor[tensor].reading == Reading::codes) continue;
    const DType type = p.tensor[tensor].type;
    if (p.tensor[tensor].reading != Reading::value || (type != DType::f32 && !is_half(type)))
      return "an operand is neither codes nor f32, f16 or bf16";
  }
  return nullptr;
}

/// Whether the scales of codes, or their zero points, are tensors of which is_own(tensor) holds.
template <class IsOwn>
bool any_numbers(const ElementwiseParams& p, std::int8_t CodeNumbers::*number, IsOwn&& is_own) {
  const auto has_own = [&](const CodeNumbers& codes) {
    return codes.*number >= 0 && is_own(p.tensor[codes.*number]);
  };
  for (int t = 0; t < p.tensors; ++t) {
    if (p.tensor[t].reading == Reading::codes && has_own(p.codes[t])) return true;
  }
  return p.out_coded && has_own(p.out_codes);
}

/// The tensors by the numbers that kernels for one operation on codes know.
ElementwiseParams with_numbered_tensors(const ElementwiseParams& p) {
  ElementwiseParams result = p;
  for (TensorOperand& tensor : result.tensor) tensor = TensorOperand{};
  result.tensors = kScaleTensors;
  const auto number = [&](std::int8_t& tensor, int to) {
    if (tensor < 0) return;
    result.tensor[to] = p.tensor[tensor];
    tensor = static_cast<std::int8_t>(to);
    result.tensors = std::max(result.tensors, to < kZeroTensors ? kZeroTensors : kMaxTensors);
  };
  const auto number_codes = [&](CodeNumbers& codes, int party) {
    number(codes.scale_tensor, kScaleTensors + party);
    number(codes.zero_tensor, kZeroTensors + party);
  };
  for (int i = 0; i < std::min(p.arguments, 2); ++i) {
    const int tensor = p.argument[i].tensor;
    if (tensor < 0) continue;
    result.tensor[i] = p.tensor[tensor];
    result.codes[i] = p.codes[tensor];
    result.argument[i].tensor = i;
    if (p.tensor[tensor].reading == Reading::codes) number_codes(result.codes[i], i);
  }
  if (p.out_coded) number_codes(result.out_codes, 2);
  return result;
}

bool is_codes(const ElementwiseParams& p, int argument) {
  const int tensor = p.argument[argument].tensor;
  return tensor >= 0 && p.tensor[tensor].reading == Reading::codes;
}

/// The tensors have the numbers that kernels for codes know.
bool are_bounded_codes(const ElementwiseParams& p) {
  if (p.own_scales || p.steps != 1 || !is_bounded(p.step[0].operation) || !p.out_coded ||
      p.tensors > kZeroTensors)
    return false;
  for (int i = 0; i < p.step[0].operands; ++i) {
    if (!is_codes(p, i)) return false;
  }
  return true;
}

/// A nest cut into strips of codes of one length.
struct InStrips {
  ElementwiseParams params;
  StripCut cut;

  double elements_of_lanes() const { return static_cast<double>(params.lanes) * params.strips.count; }
};

/// Whether long strips, in which a lane has more elements for what it does once, take the place of short
/// ones. They do where they fill the device and cost no more. A problem that is too small for costs has them
/// if lanes follow the output, if nearly as many of their places have elements as of short ones', and if they
/// are vectors of an operand across wherever short ones are. With zero points in tensors the kernel has none.
constexpr double kLeastFill = 0.9;
bool are_better(const InStrips& longer, const InStrips& shorter, std::int64_t enough_lanes) {
  const ElementwiseParams& p = longer.params;
  if (p.own_scales || p.tensors > kZeroTensors || p.lanes < enough_lanes) return false;
  if (longer.cut.cost > 0) return longer.cut.cost <= shorter.cut.cost;
  return (longer.cut.vectors || !shorter.cut.vectors) && follow_output(p) &&
         kLeastFill * longer.elements_of_lanes() <= shorter.elements_of_lanes();
}

/// Whether all scales that are tensors lie alike, as instances without zero points have it.
bool are_alike(const ElementwiseParams& p) {
  const TensorOperand* first = nullptr;
  return !any_numbers(p, &CodeNumbers::scale_tensor, [&](const TensorOperand& scales) {
    if (first == nullptr) first = &scales;
    return !std::equal(scales.strides, scales.strides + p.rank, first->strides);
  });
}

/// Where scales lie alike, kernels look at the strides of the first one's place.
void share_strides(ElementwiseParams& p) {
  any_numbers(p, &CodeNumbers::scale_tensor, [&](const TensorOperand& scales) {
    TensorOperand first = p.tensor[kScaleTensors];
    std::copy_n(scales.strides, kMaxRank, first.strides);
    p.tensor[kScaleTensors] = first;
    return true;
  });
}

/// Whether strips whose codes have scales of their own, which lie along an operand across, cost less than
/// strips along axes on which the scales are the same.
bool own_scales_are_better(const InStrips& own, const InStrips& shared) {
  return own.params.own_scales && own.cut.cost + kOwnScale < shared.cut.cost;
}

/// Cuts a nest that may be cut into strips, along axes on which scales and zero points are the same, where
/// there are such.
ElementwiseParams in_strips(const ElementwiseParams& p, std::int64_t enough_lanes) {
  std::uint32_t other_zeros = 0, other_numbers = 0;  // axes along which they change
  for (int axis = 0; axis < p.rank; ++axis) {
    const auto changes_along = [&](const TensorOperand& tensor) { return tensor.strides[axis] != 0; };
    const std::uint32_t bit = 1u << axis;
    if (any_numbers(p, &CodeNumbers::zero_tensor, changes_along)) other_zeros |= bit;
    if (any_numbers(p, &CodeNumbers::scale_tensor, changes_along)) other_numbers |= bit;
  }
  other_numbers |= other_zeros;
  const auto cut_by = [&](std::int32_t count, std::uint32_t without) {
    InStrips in{p, {}};
    if (p.tensors > kScaleTensors && !are_alike(p)) in.params.tensors = kMaxTensors;
    cut_rows(in.params, count);
    in.cut = cut_strips(in.params, count, without, count == kLongCodeStrip);
    if (in.params.tensors == kZeroTensors) share_strides(in.params);
    in.params.own_scales = any_numbers(in.params, &CodeNumbers::scale_tensor, differs);
    return in;
  };
  const InStrips longer = cut_by(kLongCodeStrip, other_numbers), shorter = cut_by(kCodeStrip, other_numbers);
  const InStrips& shared = are_better(longer, shorter, enough_lanes) ? longer : shorter;
  if (other_numbers == other_zeros || shared.cut.cost < kOwnScale) return shared.params;
  const InStrips own = cut_by(kCodeStrip, other_zeros);
  return own_scales_are_better(own, shared) ? own.params : shared.params;
}

/// Where what lies beside the end of a row may be read: the least part of the rows' vectors that has
/// elements. Elsewhere: the vectors of the shortest rows.
constexpr double kLeastVectorShare = 0.85;
constexpr std::int64_t kShortestApartRow = 64;
/// Rows of a tensor in one piece, few of which are its first or its last.
constexpr std::int64_t kManyRows = 8;

/// Whether the kernel of vectors is faster than strips and chunks of rows. The rows are cut into vectors, and
/// find_dense() was called. On an H100 vectors take 0.84 of their time (41 random problems, 0.68 to 0.92).
/// While one lane moves a row's end code by code, all lanes of its warp wait: where short rows are slices or
/// repeated, or fill their vectors less, vectors take up to 2 times the time of strips.
bool prefers_vectors(const ElementwiseParams& p) {
  if (!is_along_rows(p)) return false;
  const std::int64_t extent = p.extents[p.rank - 1];
  bool apart = false;  // an operand has ends of rows beside which nothing may be read
  for (int t = 0; t < kScaleTensors; ++t) {
    const TensorOperand& tensor = p.tensor[t];
    if (tensor.access == Access::strided) return false;
    apart = apart || (tensor.access != Access::repeated && tensor.dense < kManyRows * extent);
  }
  if (apart) return p.row_vectors >= kShortestApartRow;
  return static_cast<double>(extent) >= kLeastVectorShare * static_cast<double>(p.row_vectors * p.width);
}

}  // namespace

bool is_bounded(Operation operation) {
  switch (operation) {
    case Operation::truediv:
    case Operation::reciprocal:
    case Operation::sqrt:
    case Operation::rsqrt:
      return false;
    default:
      break;
  }
  const OperationKind kind = kind_of(operation);
  const OperationCost cost = cost_of(operation);
  return (kind == OperationKind::arithmetic || kind == OperationKind::floating) &&
         (cost == OperationCost::cheap || cost == OperationCost::rounded) && operands_of(operation) <= 2;
}

const char* obstacle_to_code_rows(const ElementwiseParams& p) {
  const Operation operation = p.step[0].operation;
  if (p.steps != 1 ||
      (operation != Operation::add && operation != Operation::sub && operation != Operation::mul))
    return "the program is not one add, sub or mul";
  if (!p.out_coded || !is_codes(p, 0) || !is_codes(p, 1)) return "not all operands and results are codes";
  if (p.flush_to_zero || p.rounding != Rounding::nearest_even)
    return "a rounding or flush_to_zero is asked for";
  if (!p.fits_32_bits) return "offsets need 64 bits";
  if (!is_along_rows(p)) return "the output's rows are strided";
  if (!rows_end_with_vectors(p) && p.row_vectors < kShortestCutCodeRow)
    return "rows are short and end inside vectors";
  const auto is_repeated = [&](int tensor) {
    return tensor < 0 || p.tensor[tensor].access == Access::repeated;
  };
  const auto fits = [&](const CodeNumbers& codes) {
    return is_repeated(codes.scale_tensor) && is_repeated(codes.zero_tensor);
  };
  if (!fits(p.out_codes)) return "the output's scale or zero point changes along a row";
  for (int i = 0; i < 2; ++i) {
    const int tensor = p.argument[i].tensor;
    if (!is_aligned(p.tensor[tensor].access)) return "an operand's rows are not aligned with the output's";
    if (!fits(p.codes[tensor])) return "a scale or a zero point changes along a row";
  }
  return nullptr;
}

const char* choose_one_on_codes(ElementwiseParams& params, std::int64_t enough_lanes,
                                ElementwiseKernel& kernel) {
  if (const char* obstacle = obstacle_to_one_on_codes(params)) return obstacle;
  ElementwiseParams p = with_numbered_tensors(params);
  const auto changes = [&](const TensorOperand& tensor) { return tensor.strides[p.rank - 1] != 0; };
  const bool own_scales = any_numbers(p, &CodeNumbers::scale_tensor, changes),
             own_zeros = any_numbers(p, &CodeNumbers::zero_tensor, changes);
  const auto choose = [&](const ElementwiseParams& chosen, ElementwiseKernel its_kernel) {
    params = chosen;
    params.bounded_codes = are_bounded_codes(params);
    kernel = its_kernel;
    return nullptr;
  };
  if (ElementwiseParams vectors = p; !own_scales && !own_zeros && are_bounded_codes(p)) {
    cut_rows(vectors, kVectorBytes);
    find_dense(vectors);
    if (prefers_vectors(vectors)) {
      cut_code_vectors(vectors);
      return choose(vectors, ElementwiseKernel::code_vectors);
    }
  }
  const auto cut_into_chunks = [&](bool own) {
    if (own_zeros || (own_scales && !own)) return false;
    cut_rows(p, own ? kCodeChunkWidth / 2 : kCodeChunkWidth);
    if (obstacle_to_chunks(p) != nullptr) return false;
    cut_chunks(p);
    p.own_scales = own;
    return true;
  };
  if (cut_into_chunks(false)) return choose(p, ElementwiseKernel::code_chunks);
  const char* obstacle = obstacle_to_cutting(p);
  ElementwiseParams strips;
  if (obstacle == nullptr) {
    strips = in_strips(p, enough_lanes);
    if (any_numbers(strips, &CodeNumbers::zero_tensor, differs))
      obstacle = "zero points change from element to element";
  }
  // Strips whose codes share a scale take 0.36 to 0.96 of the time of chunks with a scale for each code (20
  // random problems on an H100).
  if ((obstacle != nullptr || strips.own_scales) && cut_into_chunks(true))
    return choose(p, ElementwiseKernel::code_chunks);
  return obstacle != nullptr ? obstacle : choose(strips, ElementwiseKernel::code_strips);
}

}  // namespace relayout::plan
