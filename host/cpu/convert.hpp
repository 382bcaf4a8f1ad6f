// Element conversions of the native kernels: one element, or a contiguous row at the speed of the machine.
#pragma once

#include <cstdint>
#include <type_traits>

#include "host/cpu/streaming.hpp"
#include "relayout/dtype.hpp"

namespace relayout::native {

/// One rounding, to nearest even; equal types are moved.
template <class Out, class In>
Out convert(In value) noexcept {
  if constexpr (std::is_same_v<In, Out>) {
    return value;
  } else if constexpr (std::is_same_v<Out, double>) {
    return static_cast<double>(to_float(value));
  } else if constexpr (std::is_same_v<Out, float>) {
    if constexpr (std::is_same_v<In, double>) {
      return static_cast<float>(value);
    } else {
      return to_float(value);
    }
  } else {
    // Widening to f32 is exact; a double goes directly, so that it is rounded once.
    const auto wide = [value] {
      if constexpr (std::is_same_v<In, double>) {
        return value;
      } else {
        return to_float(value);
      }
    }();
    if constexpr (std::is_same_v<Out, f16>) {
      return to_f16(wide);
    } else {
      return to_bf16(wide);
    }
  }
}

/// The same of f32 to bf16, without an early return or a branch, so that compilers vectorise the loop over
/// it; inlined, so that they do it for the instructions that the caller may use.
__attribute__((always_inline)) inline bf16 to_bf16_branchless(float value) noexcept {
  const std::uint32_t bits = detail::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const std::uint32_t quiet = (bits >> 16) | 0x40u;
  return {static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded)};
}

/// The pairs for which the processor's own instructions are used where it has them.
void convert_row(const float* in, f16* out, std::int64_t count) noexcept;
void convert_row(const f16* in, float* out, std::int64_t count) noexcept;
void convert_row(const float* in, bf16* out, std::int64_t count) noexcept;
void convert_row(const f16* in, bf16* out, std::int64_t count) noexcept;
void convert_row(const bf16* in, f16* out, std::int64_t count) noexcept;

/// out[0, count) = in[0, count), both contiguous, not overlapping.
template <class In, class Out>
void convert_row(const In* in, Out* out, std::int64_t count) noexcept {
  if constexpr (std::is_same_v<In, Out>) {
    move_row(out, in, count * static_cast<std::int64_t>(sizeof(In)));
  } else {
    for (std::int64_t i = 0; i < count; ++i) out[i] = convert<Out>(in[i]);
  }
}

/// The same with any strides.
template <class In, class Out>
void convert_strided(const In* in, std::int64_t in_stride, Out* out, std::int64_t out_stride,
                     std::int64_t count) noexcept {
  if (in_stride == 1 && out_stride == 1) {
    convert_row(in, out, count);
  } else {
    for (std::int64_t i = 0; i < count; ++i) out[i * out_stride] = convert<Out>(in[i * in_stride]);
  }
}

/// out[0, count) = in[0, count), past the caches if `streamed`.
template <class T>
void store_row(const T* in, T* out, std::int64_t count, bool streamed) noexcept {
  if (streamed) {
    stream_row(out, in, count * static_cast<std::int64_t>(sizeof(T)));
  } else {
    convert_row(in, out, count);
  }
}

}  // namespace relayout::native
