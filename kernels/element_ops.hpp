// What happens to one element on its way: it moves as bytes, or is cast with one rounding to nearest even.
#pragma once

#include <cstdint>
#include <string>

#include "half.hpp"
#include "kernel_language.hpp"
#include "relayout/dtype.hpp"
#include "relayout/error.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// convert<To>(from) for every pair of f16, bf16, float and double; equal types of any kind pass unchanged.
template <class To, class From>
struct Convert;
template <class T>
struct Convert<T, T> {
  static __device__ __forceinline__ T apply(T value) { return value; }
};
template <>
struct Convert<float, double> {
  static __device__ __forceinline__ float apply(double value) { return static_cast<float>(value); }
};
template <>
struct Convert<double, float> {
  static __device__ __forceinline__ double apply(float value) { return static_cast<double>(value); }
};
template <>
struct Convert<f16, float> {
  static __device__ __forceinline__ f16 apply(float value) { return float_to_half(value); }
};
template <>
struct Convert<f16, double> {
  static __device__ __forceinline__ f16 apply(double value) { return double_to_half(value); }
};
template <>
struct Convert<bf16, float> {
  static __device__ __forceinline__ bf16 apply(float value) { return float_to_bfloat(value); }
};
template <>
struct Convert<bf16, double> {
  static __device__ __forceinline__ bf16 apply(double value) { return double_to_bfloat(value); }
};
template <>
struct Convert<float, f16> {
  static __device__ __forceinline__ float apply(f16 value) { return half_to_float(value); }
};
template <>
struct Convert<float, bf16> {
  static __device__ __forceinline__ float apply(bf16 value) { return bfloat_to_float(value); }
};
template <>
struct Convert<double, f16> {
  static __device__ __forceinline__ double apply(f16 value) { return half_to_float(value); }
};
template <>
struct Convert<double, bf16> {
  static __device__ __forceinline__ double apply(bf16 value) { return bfloat_to_float(value); }
};
template <>
struct Convert<bf16, f16> {
  static __device__ __forceinline__ bf16 apply(f16 value) { return float_to_bfloat(half_to_float(value)); }
};
template <>
struct Convert<f16, bf16> {
  static __device__ __forceinline__ f16 apply(bf16 value) { return float_to_half(bfloat_to_float(value)); }
};

template <class To, class From>
__device__ __forceinline__ To convert(From value) {
  return Convert<To, From>::apply(value);
}

template <class T>
struct TypeTag {
  using type = T;
};

/// Calls visit(TypeTag<T>) with the unsigned integer of the element's size, so that one instance serves all
/// types of a size.
template <class Visit>
void visit_element_sizes(DType type, Visit&& visit) {
  switch (size_of(type)) {
    case 1:
      return visit(TypeTag<std::uint8_t>{});
    case 2:
      return visit(TypeTag<std::uint16_t>{});
    case 4:
      return visit(TypeTag<std::uint32_t>{});
    default:
      return visit(TypeTag<std::uint64_t>{});
  }
}

/// Calls visit(TypeTag<T>) for f16, bf16, f32 and f64.
template <class Visit>
void visit_floats(DType type, Visit&& visit) {
  switch (type) {
    case DType::f16:
      return visit(TypeTag<f16>{});
    case DType::bf16:
      return visit(TypeTag<bf16>{});
    case DType::f32:
      return visit(TypeTag<float>{});
    case DType::f64:
      return visit(TypeTag<double>{});
    default:
      throw Error(ErrorCode::dtype, std::string(name_of(type)) + " is no floating type");
  }
}

/// The same for f16, bf16 and f32, which are computed in f32.
template <class Visit>
void visit_floats_up_to_f32(DType type, Visit&& visit) {
  if (type == DType::f16) return visit(TypeTag<f16>{});
  if (type == DType::bf16) return visit(TypeTag<bf16>{});
  return visit(TypeTag<float>{});
}

/// Calls visit(TypeTag<From>, TypeTag<To>) for two different types of f16, bf16, f32 and f64. The references
/// are taken off, since decltype of a captured parameter is a reference for GCC 12, and instances of equal
/// types would be made.
template <class Visit>
void visit_casts(DType in, DType out, Visit&& visit) {
  visit_floats(in, [&](auto from) {
    visit_floats(out, [&](auto to) {
      if constexpr (!std::is_same_v<std::decay_t<decltype(from)>, std::decay_t<decltype(to)>>)
        visit(from, to);
    });
  });
}

/// Either of both: visit(TypeTag<T>, TypeTag<T>) for equal types.
template <class Visit>
void visit_element_types(DType in, DType out, Visit&& visit) {
  if (in != out) return visit_casts(in, out, visit);
  visit_element_sizes(in, [&](auto type) { visit(type, type); });
}

}  // namespace relayout::RELAYOUT_BACKEND
