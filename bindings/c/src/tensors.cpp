#include "bindings/c/src/tensors.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace relayout::c {
namespace {

struct Pair {
  DType type;
  relayout_dl_dtype dlpack;
};

constexpr Pair kTypes[] = {{DType::bool_, {RELAYOUT_DL_BOOL, 8, 1}},
                           {DType::u8, {RELAYOUT_DL_UINT, 8, 1}},
                           {DType::u16, {RELAYOUT_DL_UINT, 16, 1}},
                           {DType::u32, {RELAYOUT_DL_UINT, 32, 1}},
                           {DType::u64, {RELAYOUT_DL_UINT, 64, 1}},
                           {DType::i8, {RELAYOUT_DL_INT, 8, 1}},
                           {DType::i16, {RELAYOUT_DL_INT, 16, 1}},
                           {DType::i32, {RELAYOUT_DL_INT, 32, 1}},
                           {DType::i64, {RELAYOUT_DL_INT, 64, 1}},
                           {DType::f16, {RELAYOUT_DL_FLOAT, 16, 1}},
                           {DType::bf16, {RELAYOUT_DL_BFLOAT, 16, 1}},
                           {DType::f32, {RELAYOUT_DL_FLOAT, 32, 1}},
                           {DType::f64, {RELAYOUT_DL_FLOAT, 64, 1}},
                           {DType::tf32, {RELAYOUT_DL_TF32, 32, 1}},
                           {DType::e4m3fn, {RELAYOUT_DL_FLOAT8_E4M3FN, 8, 1}},
                           {DType::e5m2, {RELAYOUT_DL_FLOAT8_E5M2, 8, 1}},
                           {DType::b128, {RELAYOUT_DL_OPAQUE_HANDLE, 128, 1}}};

bool equal(const relayout_dl_dtype& a, const relayout_dl_dtype& b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

std::optional<DType> computed_type(const relayout_dl_dtype& type) {
  for (const Pair& pair : kTypes) {
    if (equal(pair.dlpack, type)) return pair.type;
  }
  return std::nullopt;
}

/// A type of as many bytes, for elements that are only moved.
std::optional<DType> moved_type(const relayout_dl_dtype& type) {
  switch (int{type.bits} * int{type.lanes}) {
    case 8:
      return DType::u8;
    case 16:
      return DType::u16;
    case 32:
      return DType::u32;
    case 64:
      return DType::u64;
    case 128:
      return DType::b128;
    default:
      return std::nullopt;
  }
}

std::string to_string(const relayout_dl_dtype& type) {
  return "DLPack's type of code " + std::to_string(type.code) + ", " + std::to_string(type.bits) + " bits, " +
         std::to_string(type.lanes) + (type.lanes == 1 ? " lane" : " lanes");
}

DType type_of(const relayout_tensor& tensor, const char* name) {
  const std::optional<DType> type = computed_type(tensor.dtype);
  if (!type) {
    throw Error(ErrorCode::dtype, std::string(name) + " has " + to_string(tensor.dtype) +
                                      ", which relayout does not compute with");
  }
  return *type;
}

std::string place_name(const relayout_dl_device& place) {
  switch (place.device_type) {
    case RELAYOUT_DL_CPU:
      return "host memory";
    case RELAYOUT_DL_CUDA:
      return "memory of the NVIDIA GPU " + std::to_string(place.device_id);
    case RELAYOUT_DL_ROCM:
      return "memory of the AMD GPU " + std::to_string(place.device_id);
    default:
      return "memory of DLPack's device type " + std::to_string(place.device_type);
  }
}

bool is_pinned_or_managed(int32_t type) {
  return type == RELAYOUT_DL_CUDA_HOST || type == RELAYOUT_DL_ROCM_HOST || type == RELAYOUT_DL_CUDA_MANAGED;
}

/// The type of the memory of the GPUs that this library was built for.
int32_t gpu_memory() {
  const std::vector<std::string> names = Device::built_with();
  return std::find(names.begin(), names.end(), "cuda") != names.end() ? RELAYOUT_DL_CUDA : RELAYOUT_DL_ROCM;
}

void check_place(const Device& device, const relayout_dl_device& place, const char* name) {
  if (is_pinned_or_managed(place.device_type)) return;
  static const int32_t of_gpus = gpu_memory();
  const bool reachable = device.kind() == DeviceKind::gpu
                             ? place.device_type == of_gpus && place.device_id == device.index()
                             : place.device_type == RELAYOUT_DL_CPU;
  if (!reachable) {
    throw Error(ErrorCode::invalid_argument, std::string(name) + " lies in " + place_name(place) +
                                                 ", and the work runs on " + device.to_string() +
                                                 ": all tensors of a call must lie on its device");
  }
}

TensorView view_as(const Device& device, const relayout_tensor& tensor, DType type, const char* name) {
  check_place(device, tensor.device, name);
  const auto rank = static_cast<std::size_t>(tensor.ndim);
  if (tensor.ndim > 0) check_given(tensor.shape, (std::string(name) + ".shape").c_str());
  const Dims shape(tensor.shape, tensor.shape + rank);
  constexpr std::uint64_t kMax = INT64_MAX;
  if (tensor.byte_offset > kMax) {
    throw Error(ErrorCode::invalid_argument, std::string(name) + " has a byte_offset of " +
                                                 std::to_string(tensor.byte_offset) +
                                                 ", which does not fit 63 bits");
  }
  // A null pointer stays one: the offset belongs to memory that is there.
  const char* data = static_cast<const char*>(tensor.data);
  if (data != nullptr) data += tensor.byte_offset;
  TensorView view = tensor.strides == nullptr
                        ? TensorView(data, type, shape)
                        : TensorView(data, type, shape, Dims(tensor.strides, tensor.strides + rank));
  if (data == nullptr && tensor.byte_offset != 0 && view.elements() != 0) {
    throw Error(ErrorCode::null_pointer, std::string(name) + " is " + view.to_string() +
                                             " with a byte_offset of " + std::to_string(tensor.byte_offset) +
                                             " and a null pointer to count it from");
  }
  return view;
}

const relayout_tensor& checked(const relayout_tensor* tensor, const char* name) {
  check_given(tensor, name);
  if (tensor->ndim < 0 || tensor->ndim > kMaxRank) {
    throw Error(ErrorCode::rank, std::string(name) + " has " + std::to_string(tensor->ndim) +
                                     " axes, and relayout takes 0 to " + std::to_string(kMaxRank));
  }
  return *tensor;
}

}  // namespace

TensorView view_of(const Device& device, const relayout_tensor* tensor, const char* name) {
  const relayout_tensor& given = checked(tensor, name);
  return view_as(device, given, type_of(given, name), name);
}

TensorView optional_view(const Device& device, const relayout_tensor* tensor, const char* name) {
  if (tensor == nullptr) return TensorView();
  if (tensor->ndim == 0) {  // a default TensorView, which stands for "none", looks like this
    throw Error(ErrorCode::rank,
                std::string(name) + " has no axes; a null pointer in the place of the tensor leaves it out");
  }
  return view_of(device, tensor, name);
}

std::pair<TensorView, TensorView> moved_views(const Device& device, const relayout_tensor* in,
                                              const relayout_tensor* out) {
  const relayout_tensor& from = checked(in, "in");
  const relayout_tensor& to = checked(out, "out");
  if (equal(from.dtype, to.dtype) && !computed_type(from.dtype)) {
    if (const std::optional<DType> type = moved_type(from.dtype))
      return {view_as(device, from, *type, "in"), view_as(device, to, *type, "out")};
  }
  return {view_of(device, in, "in"), view_of(device, out, "out")};
}

relayout_dl_dtype dtype_in_dlpack(DType type) noexcept {
  for (const Pair& pair : kTypes) {
    if (pair.type == type) return pair.dlpack;
  }
  return {};
}

}  // namespace relayout::c
