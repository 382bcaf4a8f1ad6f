// Tensors by DLPack: by the table of __dlpack_c_exchange_api__, and by __dlpack__.
#include <cstring>

#include "bindings/python/src/tensor.hpp"

namespace relayout::python {
namespace {

void take(Tensor& tensor, const relayout_tensor& from, const char* name) {
  set_rank(tensor, from.ndim, name);
  tensor.dl.data = from.data;
  tensor.dl.device = from.device;
  tensor.dl.dtype = from.dtype;
  tensor.dl.byte_offset = from.byte_offset;
  const std::size_t bytes = sizeof(std::int64_t) * static_cast<std::size_t>(from.ndim);
  if (bytes > 0) std::memcpy(tensor.shape, from.shape, bytes);
  if (from.strides == nullptr) {
    set_contiguous_strides(tensor);
  } else if (bytes > 0) {
    std::memcpy(tensor.strides, from.strides, bytes);
  }
}

/// Gives a tensor back when the last reference goes. That may be on the way out of a failed call, and a
/// deleter may run code in Python, which must not see the exception.
template <class Managed>
std::shared_ptr<void> owner_of(Managed* managed) {
  return std::shared_ptr<void>(managed, [](void* given) {
    auto* const owned = static_cast<Managed*>(given);
    if (owned->deleter == nullptr) return;
    PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
    PyErr_Fetch(&type, &value, &traceback);
    owned->deleter(owned);
    PyErr_Restore(type, value, traceback);
  });
}

void take_versioned(DLManagedTensorVersioned* managed, const char* name, Tensor& tensor) {
  tensor.owner = owner_of(managed);
  if (managed->version.major != 1) {
    fail(RELAYOUT_UNSUPPORTED, std::string(name) + " speaks DLPack " +
                                   std::to_string(managed->version.major) + ", and relayout 0 and 1");
  }
  tensor.read_only = (managed->flags & kReadOnly) != 0;
  take(tensor, managed->tensor, name);
}

/// The capsule of __dlpack__, of version 1 where the object knows it, ordered behind `stream`.
Ref dlpack_capsule(PyObject* object, PyObject* stream, TypeEntry& type) {
  static const Name kDlpack("__dlpack__");
  const Ref method = kDlpack.of(object);
  const Ref none = Ref::owned(PyTuple_New(0));
  if (!type.old_dlpack) {
    const Ref words = Ref::owned(Py_BuildValue("{s:O,s:(ii)}", "stream", stream, "max_version", 1, 1));
    PyObject* const capsule = PyObject_Call(method.get(), none.get(), words.get());
    if (capsule != nullptr) return Ref::owned(capsule);
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw PythonError();
    PyErr_Clear();
    type.old_dlpack = true;
  }
  const Ref words = Ref::owned(Py_BuildValue("{s:O}", "stream", stream));
  return Ref::owned(PyObject_Call(method.get(), none.get(), words.get()));
}

}  // namespace

void describe_exchange(PyObject* object, const char* name, Tensor& tensor) {
  const DLPackExchangeAPI& table = *tensor.type->table;
  if (table.view_object != nullptr) {
    relayout_tensor view{};
    check_table(table.view_object(object, &view), "dltensor_from_py_object_no_sync");
    take(tensor, view, name);
  } else {
    DLManagedTensorVersioned* managed = nullptr;
    check_table(table.from_object(object, &managed), "managed_tensor_from_py_object_no_sync");
    take_versioned(managed, name, tensor);
  }
}

void describe_dlpack(PyObject* object, const char* name, Tensor& tensor, TypeEntry& type) {
  // Tells on which stream to wait before the capsule is asked for.
  const Ref place = Ref::owned(PyObject_CallMethod(object, "__dlpack_device__", nullptr));
  std::int64_t device[2] = {};
  if (integers_of(place.get(), device, 2, "__dlpack_device__()") != 2)
    fail(PyExc_TypeError, "__dlpack_device__() must give two numbers");
  tensor.dl.device = {static_cast<std::int32_t>(device[0]), static_cast<std::int32_t>(device[1])};
  tensor.stream = current_stream(tensor);
  tensor.has_stream = true;
  Ref stream = Ref::borrowed(Py_None);
  if (tensor.on_gpu()) {
    // CUDA's default stream is 1 for DLPack, ROCm's 0.
    const auto handle = reinterpret_cast<std::size_t>(tensor.stream);
    stream = Ref::owned(PyLong_FromSize_t(handle == 0 && device[0] != RELAYOUT_DL_ROCM ? 1 : handle));
  }
  const Ref capsule = dlpack_capsule(object, stream.get(), type);
  if (PyCapsule_IsValid(capsule.get(), "dltensor_versioned") != 0) {
    auto* const managed =
        static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule.get(), "dltensor_versioned"));
    PyCapsule_SetName(capsule.get(), "used_dltensor_versioned");
    take_versioned(managed, name, tensor);
  } else {
    auto* const managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.get(), "dltensor"));
    if (managed == nullptr) throw PythonError();
    PyCapsule_SetName(capsule.get(), "used_dltensor");
    tensor.owner = owner_of(managed);
    take(tensor, managed->tensor, name);
  }
}

}  // namespace relayout::python
