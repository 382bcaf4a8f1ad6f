// A plane whose input is fastest along one axis and whose output along the other: transposed and converted
// from memory into the cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "host/cpu/convert.hpp"
#include "host/cpu/copy/micro_transpose.hpp"
#include "host/cpu/streaming.hpp"

namespace relayout::native {

/// Planes of fewer elements than this are gathered by a table: a call for each would take longer.
constexpr std::int64_t kLeastPlane = 128;

template <class In, class Out>
class PlaneReader {
  static constexpr std::int64_t kIn = sizeof(In), kOut = sizeof(Out);
  static constexpr std::int64_t kLines = kLineBytes / kOut, kLength = 1024 / kOut, kPitch = kLength + kLines;

 public:
  /// The input's strides along its fastest axis and along the output's.
  PlaneReader(std::int64_t step, std::int64_t line)
      : step_(step), line_(line), transpose_(transpose_block(kOut)) {
    if (step != 1) return;
    if constexpr (std::is_same_v<In, Out>) {
      direct_ = transpose_;
      direct_gathered_ = transpose_gathered(kOut);
    } else if constexpr (std::is_same_v<In, float> && std::is_same_v<Out, f16>) {
      direct_ = transpose_block_to_f16();
    }
  }

  /// A few lines, whose pitch is not a power of two, which would put a column into one set of the cache.
  struct Lines {
    alignas(kLineBytes) Out data[kLines * kPitch];
  };

  /// out[i * pitch + j] = in[i * step + j * line] for i < rows, j < columns. What `lines` holds means
  /// nothing.
  void operator()(const In* in, Out* out, std::int64_t pitch, std::int64_t rows, std::int64_t columns,
                  Lines& lines) const {
    if (direct_ != nullptr) {
      return direct_({reinterpret_cast<const char*>(in), line_ * kIn},
                     {reinterpret_cast<char*>(out), pitch * kOut}, rows, columns);
    }
    gather_lines(
        in, [this](std::int64_t j) { return j * line_; }, out, pitch, rows, columns, lines);
  }
  /// The same for columns whose lines begin at in + offsets[j].
  void operator()(const In* in, const std::int64_t* offsets, Out* out, std::int64_t pitch, std::int64_t rows,
                  std::int64_t columns, Lines& lines) const {
    if (direct_gathered_ != nullptr) {
      return direct_gathered_({reinterpret_cast<const char*>(in), offsets},
                              {reinterpret_cast<char*>(out), pitch * kOut}, rows, columns);
    }
    gather_lines(
        in, [offsets](std::int64_t j) { return offsets[j]; }, out, pitch, rows, columns, lines);
  }

 private:
  /// For any strides and types: a few lines at a time are gathered first.
  template <class OffsetOf>
  void gather_lines(const In* in, const OffsetOf& offset_of, Out* out, std::int64_t pitch, std::int64_t rows,
                    std::int64_t columns, Lines& lines) const {
    for (std::int64_t i = 0; i < rows; i += kLength) {
      const std::int64_t length = std::min(kLength, rows - i);
      for (std::int64_t j = 0; j < columns; j += kLines) {
        const std::int64_t count = std::min(kLines, columns - j);
        for (std::int64_t l = 0; l < count; ++l)
          convert_strided(in + offset_of(j + l) + i * step_, step_, lines.data + l * kPitch, 1, length);
        transpose_({reinterpret_cast<const char*>(lines.data), kPitch * kOut},
                   {reinterpret_cast<char*>(out + i * pitch + j), pitch * kOut}, length, count);
      }
    }
  }

  std::int64_t step_, line_;
  TransposeBlock transpose_, direct_ = nullptr;  // direct: from the input itself
  TransposeGathered direct_gathered_ = nullptr;
};

}  // namespace relayout::native
