// The rows of add, sub and mul on 8-bit codes: where the codes of a row begin, and what they stand for.
// Parameters are plain arrays, so that a lane has little to look up before its first load.
#pragma once

#include "kernels/elementwise/code_numbers.hpp"
#include "kernels/elementwise/elementwise_memory.hpp"
#include "kernels/elementwise/nest_rows.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// The parts of a row that have a place in memory: codes, their scales, their zero points. The last of each
/// three is the output's.
enum RowPart { kCodes, kScales = 3, kZeros = 6, kRowParts = 9 };
enum Party { kFirst, kSecond, kOut, kParties };

struct CodeRowParams {
  const void* data[kRowParts] = {};  // null: the same number for all rows
  std::int32_t strides[kMaxRank][kRowParts] = {};
  float scale[kParties] = {}, sign[kParties] = {1, 1, 1};  // the number of a code times its sign counts
  std::int32_t zero[kParties] = {};
  bool is_signed[kParties] = {}, repeated[kParties] = {};  // repeated: the first code of a row for all of it
  std::int32_t rank = 0, extent = 0;                       // of the last axis
  Divisor row_divisor, divisors[kMaxRank];
  std::uint32_t lanes = 0;
  bool streaming = false;
};
static_assert(sizeof(CodeRowParams) < 4000, "room for a kernel's parameters");

/// A repeated operand is made the second: sums and products are the same either way, and a difference is a
/// sum with a sign.
inline CodeRowParams code_row_params(const ElementwiseParams& p) {
  CodeRowParams rows;
  const bool swapped = p.tensor[p.argument[0].tensor].access == Access::repeated;
  const auto set_part = [&](int part, const void* data, const std::int64_t* strides) {
    rows.data[part] = data;
    for (int axis = 0; axis < p.rank; ++axis)
      rows.strides[axis][part] = static_cast<std::int32_t>(strides[axis]);
  };
  const auto set_party = [&](Party party, const CodeNumbers& codes) {
    rows.is_signed[party] = codes.is_signed;
    rows.scale[party] = codes.scale;
    rows.zero[party] = codes.zero;
    const int scale = codes.scale_tensor, zero = codes.zero_tensor;
    if (scale >= 0) set_part(kScales + party, p.tensor[scale].data, p.tensor[scale].strides);
    if (zero >= 0) set_part(kZeros + party, p.tensor[zero].data, p.tensor[zero].strides);
  };
  for (const Party party : {kFirst, kSecond}) {
    const int place = swapped ? 1 - party : party;
    const int number = p.argument[place].tensor;
    const TensorOperand& tensor = p.tensor[number];
    set_party(party, p.codes[number]);
    set_part(kCodes + party, tensor.data, tensor.strides);
    rows.repeated[party] = tensor.access == Access::repeated;
    if (p.step[0].operation == Operation::sub && place == 1) rows.sign[party] = -1;
  }
  set_party(kOut, p.out_codes);
  set_part(kCodes + kOut, p.out, p.out_strides);
  rows.rank = p.rank;
  rows.extent = static_cast<std::int32_t>(p.extents[p.rank - 1]);
  rows.row_divisor = p.row_divisor;
  for (int axis = 0; axis < p.rank; ++axis) rows.divisors[axis] = p.axes[axis].extent;
  rows.lanes = p.lanes;
  rows.streaming = p.streaming;
  return rows;
}

/// What the codes of one row stand for.
struct RowCodes {
  const unsigned char* row;
  bool repeated;             // its first code for all
  std::uint32_t first_code;  // of a row that is repeated
  float scale;
  std::int32_t zero;
  bool is_signed;

  __device__ __forceinline__ float number(int i) const {
    return number_of_code(code_of(row[repeated ? 0 : i], is_signed), zero, scale);
  }
  /// Starts the load of codes [first, first + 16) of the row, from a multiple of 16 bytes on; or 16 times the
  /// row's first code.
  __device__ __forceinline__ void load(int first, Words& words) const {
    if (!repeated) return load_global_16_bytes(&words, row + first);
#pragma unroll
    for (int k = 0; k < 4; ++k) words.values[k] = first_code * 0x01010101u;
  }
  /// With their highest bit flipped, signed codes are in order from 0 on, too.
  __device__ __forceinline__ std::uint32_t flip() const { return is_signed ? 0x80808080u : 0; }
  __device__ __forceinline__ float offset() const {
    return 0x1p23f + static_cast<float>(is_signed ? zero + 128 : zero);
  }
};

struct Row {
  RowCodes a, b, out;
};

/// With kRepeated, a row of an operand may be one code.
template <bool kRepeated>
__device__ __forceinline__ RowCodes row_codes(const CodeRowParams& p, Party party,
                                              const std::int32_t (&offsets)[kRowParts]) {
  RowCodes row{};
  row.row = static_cast<const unsigned char*>(p.data[kCodes + party]) + offsets[kCodes + party];
  row.is_signed = p.is_signed[party];
  row.scale = p.scale[party];
  row.zero = p.zero[party];
  if (const void* scales = p.data[kScales + party])
    row.scale = static_cast<const float*>(scales)[offsets[kScales + party]];
  row.scale *= p.sign[party];
  if (const void* zeros = p.data[kZeros + party])
    row.zero = code_of(static_cast<const unsigned char*>(zeros)[offsets[kZeros + party]], row.is_signed);
  if (kRepeated && p.repeated[party]) {
    row.repeated = true;
    row.first_code = *row.row;
  }
  return row;
}

/// `number` counts the rows over all outer axes.
template <bool kRepeated>
__device__ __forceinline__ Row find_row(const CodeRowParams& p, std::uint32_t number) {
  std::int32_t offsets[kRowParts] = {};
  const auto add_axis = [&](int axis, std::uint32_t index) {
#pragma unroll
    for (int part = 0; part < kRowParts; ++part)
      offsets[part] += static_cast<std::int32_t>(index) * p.strides[axis][part];
  };
  if (p.rank == 3) {  // images with channels: the axes are known
    std::uint32_t index = number;
    add_axis(0, split(index, p.divisors[1]));
    add_axis(1, index);
  } else {
    split_row(
        p, number, [&](int axis) { return p.divisors[axis]; }, add_axis);
  }
  return {row_codes<kRepeated>(p, kFirst, offsets), row_codes<kRepeated>(p, kSecond, offsets),
          row_codes<false>(p, kOut, offsets)};
}

}  // namespace relayout::RELAYOUT_BACKEND
