// Python's tensors as DLPack's: where their elements are, and what keeps them there.
#pragma once

#include <memory>
#include <optional>

#include "bindings/python/src/dlpack.hpp"
#include "bindings/python/src/python.hpp"

namespace relayout::python {

constexpr int kMaxRank = 32;

/// How a type's tensors are read.
enum class Protocol {
  exchange,      ///< the table of __dlpack_c_exchange_api__
  array_struct,  ///< numpy's __array_struct__
  torch,         ///< torch without the table
  helper,        ///< relayout._frameworks.describe: __cuda_array_interface__
  dlpack,        ///< __dlpack__
};

/// What is known of a type, found once.
struct TypeEntry {
  Protocol protocol;
  const DLPackExchangeAPI* table = nullptr;  ///< of Protocol::exchange
  bool has_gradients = false;                ///< whether its tensors have requires_grad
  bool is_torch = false;                     ///< whether they may be conjugated or negated, too, as torch's
  bool is_numpy = false;                     ///< whether it is numpy.ndarray itself
  bool immutable = false;                    ///< whether it is JAX's, whose arrays nobody may write to
  bool old_dlpack = false;                   ///< whether its __dlpack__ knows no max_version
  /// Tells torch's autograd that the tensors of a tuple were written to; null where there is no such thing.
  PyObject* increment_version = nullptr;
};

/// The stream that a call works on: that of the framework of its first tensor on a GPU, which is asked for
/// when that one is described. Later tensors are made ready for it, whatever their own frameworks work on.
using CallStream = std::optional<void*>;

/// A tensor that an object stands for. The object must live as long; `owner` is what it gave to hold its
/// memory.
struct Tensor {
  relayout_tensor dl{};
  std::int64_t shape[kMaxRank], strides[kMaxRank];
  bool read_only = false;
  bool written = false;  ///< a call writes to it besides its output
  Ref object;            ///< as the user gave it
  Ref array;             ///< what a View is a view of
  std::shared_ptr<void> owner;
  const TypeEntry* type = nullptr;

  Tensor() = default;
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  /// The framework's own tensor.
  PyObject* plain() const { return array ? array.get() : object.get(); }
  void* data() const { return static_cast<char*>(dl.data) + dl.byte_offset; }
  /// Managed memory counts as a GPU's: work on it may still be queued there.
  bool on_gpu() const {
    const std::int32_t type = dl.device.device_type;
    return type == RELAYOUT_DL_CUDA || type == RELAYOUT_DL_ROCM || type == RELAYOUT_DL_CUDA_MANAGED;
  }
  std::int64_t elements() const;
};

/// Describes a tensor; `name` is for messages. TypeError for objects of other kinds. Without `stream` it is
/// the only one.
void describe(PyObject* object, const char* name, Tensor& tensor, CallStream& stream);
void describe(PyObject* object, const char* name, Tensor& tensor);
/// Keeps the memory of a tensor that was described, for a plan: an object of torch may be given other memory
/// meanwhile, as x.data = y does, and would let go of this one.
void hold_memory(Tensor& tensor);
/// Tells the framework that the tensor was written to.
void mark_written(const Tensor& tensor);

/// Makes room for so many axes. Error{rank} for more than kMaxRank.
void set_rank(Tensor& tensor, std::int64_t rank, const char* name);
/// A stride of bytes as one of elements; that of an axis without a second element does not matter.
void set_byte_stride(Tensor& tensor, int axis, std::int64_t stride, std::int64_t bytes, const char* name);
void set_contiguous_strides(Tensor& tensor);
/// describe() by the type's table, by __dlpack__, for an array of numpy, and for a tensor of torch by its
/// attributes.
void describe_exchange(PyObject* object, const char* name, Tensor& tensor);
void describe_dlpack(PyObject* object, const char* name, Tensor& tensor, TypeEntry& type, CallStream& stream);
void describe_numpy(PyObject* object, const char* name, Tensor& tensor);
void describe_torch(PyObject* object, const char* name, Tensor& tensor);
/// hold_memory() by the type's table.
void hold_exchange(Tensor& tensor);
/// TypeError for a tensor of torch whose memory holds other numbers than the tensor until it is read. Only
/// complex ones can be conjugated.
void check_resolved(PyObject* object, const char* name, bool may_be_complex);

/// The stream that a tensor's framework works on now; null for host memory.
void* current_stream(const Tensor& tensor);

/// Whether the object is a number of Python or a scalar of numpy.
bool is_number(PyObject* object);

/// A new tensor of the prototype's kind on its device.
Ref allocate_like(const Tensor& prototype, relayout_dl_dtype dtype, int rank, const std::int64_t* shape);

/// The relayout name of a type, as in "bf16"; empty without one. And back: code 255 for an unknown name.
std::string dtype_name(relayout_dl_dtype dtype);
relayout_dl_dtype dtype_named(const std::string& name);
/// "f32[2, 3] strides [3, 1]".
std::string to_string(const Tensor& tensor);

/// Error{shape} unless a tensor that a plan is run on is as it was planned. A plan has addresses of its own
/// for nothing but memory, so all else must be.
void check_layout(const Tensor& given, const Tensor& planned, const char* name);
/// Error{invalid_argument} for a tensor that nobody may write to.
void check_writable(const Tensor& tensor, const char* name = "out");

/// The module relayout._frameworks, and relayout.View.
extern PyObject* frameworks;
extern PyObject* view_type;

}  // namespace relayout::python
