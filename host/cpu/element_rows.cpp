#include "host/cpu/element_rows.hpp"

#include <cstdint>
#include <type_traits>

#include "host/cpu/convert.hpp"
#include "host/cpu/vectorised.hpp"
#include "host/cpu/wide_integers.hpp"

namespace relayout::native {
namespace {

bool is_word(DType type) { return type == DType::i32 || type == DType::u32; }
bool is_long_word(DType type) { return type == DType::i64 || type == DType::u64; }

/// A bool as it lies in memory: any byte but 0 is true.
struct Truth {
  std::uint8_t byte;
};

template <class T, class To>
void load(const void* in, void* out, std::int64_t count) {
  const T* from = static_cast<const T*>(in);
  To* to = static_cast<To*>(out);
  if constexpr (std::is_same_v<T, Truth>) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i].byte != 0);
  } else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<To>) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = to_floating<To>(from[i]);
  } else if constexpr (std::is_arithmetic_v<T>) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
  } else {
    convert_row(from, to, count);
  }
}

template <class To>
ConvertRow loading(DType type) {
  switch (type) {
    case DType::bool_:
      return vectorised<load<Truth, To>>();  // faster by AVX2
    case DType::u8:
      return vectorised_conversion<load<std::uint8_t, To>>();
    case DType::u16:
      return vectorised_conversion<load<std::uint16_t, To>>();
    case DType::u32:
      return vectorised_conversion<load<std::uint32_t, To>>();
    case DType::u64:
      return vectorised_conversion<load<std::uint64_t, To>>();
    case DType::i8:
      return vectorised_conversion<load<std::int8_t, To>>();
    case DType::i16:
      return vectorised_conversion<load<std::int16_t, To>>();
    case DType::i32:
      return vectorised_conversion<load<std::int32_t, To>>();
    case DType::i64:
      return vectorised_conversion<load<std::int64_t, To>>();
    default:
      break;
  }
  if constexpr (std::is_floating_point_v<To>) {
    if (type == DType::f16) return load<f16, To>;
    if (type == DType::bf16) return vectorised_conversion<load<bf16, To>>();
    if (type == DType::f32) return vectorised_conversion<load<float, To>>();
    if (type == DType::f64) return vectorised_conversion<load<double, To>>();
  }
  return nullptr;
}

/// Shifted to the left, by the sign's bit where zero has two.
template <class T, int kShift>
void truth(const void* in, void* out, std::int64_t count) {
  const T* from = static_cast<const T*>(in);
  std::uint8_t* to = static_cast<std::uint8_t*>(out);
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(from[i] << kShift) != 0 ? 1 : 0;
}

template <class T>
ConvertRow truth_of(DType type) {
  return is_floating(type) || is_restricted(type) ? vectorised_conversion<truth<T, 1>>()
                                                  : vectorised_conversion<truth<T, 0>>();
}

template <class T, class To>
void store(const void* in, void* out, std::int64_t count) {
  const T* from = static_cast<const T*>(in);
  To* to = static_cast<To*>(out);
  if constexpr (std::is_arithmetic_v<To>) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
  } else {
    convert_row(from, to, count);
  }
}

template <class T>
ConvertRow storing(DType type) {
  if (type == DType::f16) return store<T, f16>;
  if (type == DType::bf16) return store<T, bf16>;
  return type == DType::f32 ? store<T, float> : store<T, double>;
}

/// The type of a class's numbers as they lie in memory, where signs do not matter.
DType type_of_numbers(ComputeClass compute) {
  switch (compute) {
    case ComputeClass::i32:
      return DType::u32;
    case ComputeClass::i64:
      return DType::u64;
    case ComputeClass::f32:
      return DType::f32;
    default:
      return DType::f64;
  }
}

}  // namespace

ConvertRow load_row(DType type, ComputeClass compute) {
  switch (compute) {
    case ComputeClass::i32:
      return is_word(type) ? nullptr : loading<std::int32_t>(type);
    case ComputeClass::i64:
      return is_long_word(type) ? nullptr : loading<std::int64_t>(type);
    case ComputeClass::f32:
      return type == DType::f32 ? nullptr : loading<float>(type);
    default:
      return type == DType::f64 ? nullptr : loading<double>(type);
  }
}

ConvertRow integer_cast_row(DType in, DType out) {
  switch (size_of(out)) {
    case 1:
      return loading<std::uint8_t>(in);
    case 2:
      return loading<std::uint16_t>(in);
    case 4:
      return loading<std::int32_t>(in);
    default:
      return loading<std::int64_t>(in);
  }
}

ConvertRow truth_row(DType type) {
  switch (size_of(type)) {
    case 1:
      return truth_of<std::uint8_t>(type);
    case 2:
      return truth_of<std::uint16_t>(type);
    case 4:
      return truth_of<std::uint32_t>(type);
    default:
      return truth_of<std::uint64_t>(type);
  }
}

ConvertRow store_row(DType type, ComputeClass compute) {
  const DType numbers = type_of_numbers(compute);
  if (type == DType::bool_) return truth_row(numbers);
  switch (compute) {
    case ComputeClass::i32:
      return is_word(type) ? nullptr : integer_cast_row(numbers, type);
    case ComputeClass::i64:
      return is_long_word(type) ? nullptr : integer_cast_row(numbers, type);
    case ComputeClass::f32:
      return type == DType::f32 ? nullptr : storing<float>(type);
    default:
      return type == DType::f64 ? nullptr : storing<double>(type);
  }
}

}  // namespace relayout::native
