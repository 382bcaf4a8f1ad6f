// What the kernels of 8-bit codes are told: out = operation(operands) over a normalised loop nest, in f32.
// Plain data, filled by host/api/quantized_plan.cpp. Strides count elements of the tensor's own type.
#pragma once

#include <cstdint>

#include "core/elementwise_params.hpp"

namespace relayout {

/// Operands, and tensors besides the output: codes or f32, scales, zero points.
constexpr int kMaxQuantizedOperands = 3, kMaxQuantizedTensors = 8;

/// A number for every element: that of a tensor, or one for all.
template <class T>
struct TensorOrConstant {
  std::int32_t tensor = -1;  // in QuantizedParams::tensor; below 0: `constant`
  T constant = 0;
};

/// Code q stands for (q - zero) * scale.
struct CodeNumbers {
  TensorOrConstant<float> scale;
  TensorOrConstant<std::int32_t> zero;
  bool is_signed = false;  // i8, else u8
};

struct QuantizedArgument {
  TensorOrConstant<float> value;  // a tensor of f32, or of codes
  bool coded = false;
  CodeNumbers codes;
};

/// Scales between these are multiplied with each other and with the reciprocal of another beforehand: nothing
/// overflows, nothing is subnormal.
constexpr float kMinFoldedScale = 0x1p-40f, kMaxFoldedScale = 0x1p40f;

enum class QuantizedKernel : std::int32_t {
  any,        // vectors of 4 elements
  arithmetic  // add, sub and mul of codes to codes, scales and zero points constant along rows; vectors of 16
};
/// Of a lane of the second.
constexpr int kArithmeticVectors = 4;

struct QuantizedParams {
  QuantizedKernel kernel = QuantizedKernel::any;
  Operation operation = Operation::add;
  bool converts = false;  // no operation: quantise or dequantise
  std::int32_t operands = 0, tensors = 0;
  QuantizedArgument argument[kMaxQuantizedOperands];
  TensorOperand tensor[kMaxQuantizedTensors];

  void* out = nullptr;
  DType out_type = DType::i8;  // of codes, f32 or bool
  std::int32_t out_bytes = 1;
  bool out_coded = true;
  CodeNumbers out_codes;

  std::int32_t rank = 0;  // 1 or more
  std::int64_t elements = 0;
  std::int64_t extents[kMaxRank] = {};  // the last axis is the output's fastest
  std::int64_t out_strides[kMaxRank] = {};

  /// Of the kernels, host/plan/elementwise/quantized_rows.hpp: the vectors that the output is written in,
  /// aligned ones of `width` elements, of which a row meets row_vectors.
  std::int32_t width = 1;
  std::int64_t row_vectors = 0, vectors = 0;
  bool fits_32_bits = false;  // vectors and offsets fit 31 bits: `divisors` are used
  /// By row_vectors; of QuantizedKernel::arithmetic, by the lanes that share a row.
  Divisor row_divisor, divisors[kMaxRank];
  std::uint32_t lanes = 0;
  bool streaming = false;  // the output is too large for the caches to be of use to a reader: past them
};

static_assert(sizeof(QuantizedParams) < 4000, "room for a kernel's parameters");

}  // namespace relayout
