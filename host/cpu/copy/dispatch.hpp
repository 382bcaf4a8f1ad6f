// From run-time element types to the types of a template.
#pragma once

#include <cstdint>
#include <string>

#include "relayout/dtype.hpp"
#include "relayout/error.hpp"

namespace relayout::native {

template <class T>
struct TypeTag {
  using type = T;
};

/// body(TypeTag<In>, TypeTag<the type of `out`>) for f16, bf16, f32 and f64.
template <class In, class F>
void with_output_type(DType out, const F& body) {
  switch (out) {
    case DType::f16:
      return body(TypeTag<In>(), TypeTag<f16>());
    case DType::bf16:
      return body(TypeTag<In>(), TypeTag<bf16>());
    case DType::f32:
      return body(TypeTag<In>(), TypeTag<float>());
    default:
      return body(TypeTag<In>(), TypeTag<double>());
  }
}

/// body(TypeTag<In>, TypeTag<Out>): equal element types as unsigned integers of their size, floating ones as
/// themselves. Error{dtype} for any other pair.
template <class F>
void with_types(DType in, DType out, const F& body) {
  if (in == out) {
    switch (size_of(in)) {
      case 1:
        return body(TypeTag<std::uint8_t>(), TypeTag<std::uint8_t>());
      case 2:
        return body(TypeTag<std::uint16_t>(), TypeTag<std::uint16_t>());
      case 4:
        return body(TypeTag<std::uint32_t>(), TypeTag<std::uint32_t>());
      default:
        return body(TypeTag<std::uint64_t>(), TypeTag<std::uint64_t>());
    }
  }
  if (!is_floating(in) || !is_floating(out)) {
    throw Error(ErrorCode::dtype,
                std::string("No conversion from ") + name_of(in) + " to " + name_of(out) + ".");
  }
  switch (in) {
    case DType::f16:
      return with_output_type<f16>(out, body);
    case DType::bf16:
      return with_output_type<bf16>(out, body);
    case DType::f32:
      return with_output_type<float>(out, body);
    default:
      return with_output_type<double>(out, body);
  }
}

}  // namespace relayout::native
