#include "host/api/codes.hpp"

#include <cmath>

#include "host/api/checks.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

void check_type(const std::string& operation, const char* what, const TensorView& view, DType wanted) {
  if (view.dtype() == wanted) return;
  fail(operation, ErrorCode::dtype,
       std::string(what) + " has elements of " + name_of(view.dtype()) + " and must have " + name_of(wanted));
}

}  // namespace

void check_code_types(const std::string& operation, const QuantizedTensor& tensor) {
  const DType codes = tensor.codes.dtype();
  if (codes != DType::i8 && codes != DType::u8)
    fail(operation, ErrorCode::dtype, std::string("codes are i8 or u8, not ") + name_of(codes));
  if (const auto* scale = std::get_if<TensorView>(&tensor.scale))
    check_type(operation, "a scale", *scale, DType::f32);
  if (const auto* zero = std::get_if<TensorView>(&tensor.zero))
    check_type(operation, "a zero point", *zero, codes);
}

void check_code_numbers(const std::string& operation, const QuantizedTensor& tensor) {
  if (const float* scale = std::get_if<float>(&tensor.scale)) {
    if (!(*scale > 0) || std::isinf(*scale))
      fail(operation, ErrorCode::scale, "a scale is " + shortest(*scale) + "; it must be finite and above 0");
  }
  if (const int* zero = std::get_if<int>(&tensor.zero)) {
    const int lowest = tensor.codes.dtype() == DType::i8 ? -128 : 0;
    if (*zero < lowest || *zero > lowest + 255)
      fail(operation, ErrorCode::literal_range,
           "the zero point " + std::to_string(*zero) + " is no " + name_of(tensor.codes.dtype()));
  }
}

int number_tensors(const QuantizedTensor& tensor) {
  return (std::holds_alternative<TensorView>(tensor.scale) ? 1 : 0) +
         (std::holds_alternative<TensorView>(tensor.zero) ? 1 : 0);
}

}  // namespace relayout
