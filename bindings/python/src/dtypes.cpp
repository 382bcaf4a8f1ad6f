// Element types by name.
#include <cstring>

#include "bindings/python/src/tensor.hpp"

namespace relayout::python {
namespace {

struct NamedType {
  const char* name;
  const char* numpy;
  relayout_dl_dtype type;
};

constexpr NamedType kTypes[] = {{"bool", "bool_", {RELAYOUT_DL_BOOL, 8, 1}},
                                {"u8", "uint8", {RELAYOUT_DL_UINT, 8, 1}},
                                {"u16", "uint16", {RELAYOUT_DL_UINT, 16, 1}},
                                {"u32", "uint32", {RELAYOUT_DL_UINT, 32, 1}},
                                {"u64", "uint64", {RELAYOUT_DL_UINT, 64, 1}},
                                {"i8", "int8", {RELAYOUT_DL_INT, 8, 1}},
                                {"i16", "int16", {RELAYOUT_DL_INT, 16, 1}},
                                {"i32", "int32", {RELAYOUT_DL_INT, 32, 1}},
                                {"i64", "int64", {RELAYOUT_DL_INT, 64, 1}},
                                {"f16", "float16", {RELAYOUT_DL_FLOAT, 16, 1}},
                                {"bf16", "bfloat16", {RELAYOUT_DL_BFLOAT, 16, 1}},
                                {"f32", "float32", {RELAYOUT_DL_FLOAT, 32, 1}},
                                {"f64", "float64", {RELAYOUT_DL_FLOAT, 64, 1}},
                                {"tf32", "tf32", {RELAYOUT_DL_TF32, 32, 1}},
                                {"e4m3fn", "float8_e4m3fn", {RELAYOUT_DL_FLOAT8_E4M3FN, 8, 1}},
                                {"e5m2", "float8_e5m2", {RELAYOUT_DL_FLOAT8_E5M2, 8, 1}},
                                {"c64", "complex64", {RELAYOUT_DL_COMPLEX, 64, 1}},
                                {"c128", "complex128", {RELAYOUT_DL_COMPLEX, 128, 1}}};

}  // namespace

std::string dtype_name(relayout_dl_dtype dtype) {
  for (const NamedType& named : kTypes) {
    if (std::memcmp(&named.type, &dtype, sizeof dtype) == 0) return named.name;
  }
  return "";
}

relayout_dl_dtype dtype_named(const std::string& name) {
  for (const NamedType& named : kTypes) {
    if (name == named.name || name == named.numpy) return named.type;
  }
  return {255, 0, 0};
}

std::string to_string(const Tensor& tensor) {
  const auto list = [&](const std::int64_t* numbers) {
    std::string text = "[";
    for (int axis = 0; axis < tensor.dl.ndim; ++axis)
      text += (axis == 0 ? "" : ", ") + std::to_string(numbers[axis]);
    return text + "]";
  };
  return dtype_name(tensor.dl.dtype) + list(tensor.shape) + " strides " + list(tensor.strides);
}

}  // namespace relayout::python
