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
    PyObject* const capsule =
        with_lock_back([&] { return PyObject_Call(method.get(), none.get(), words.get()); });
    if (capsule != nullptr) return Ref::owned(capsule);
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw PythonError();
    PyErr_Clear();
  }
  const Ref words = Ref::owned(Py_BuildValue("{s:O}", "stream", stream));
  Ref capsule = asked([&] { return PyObject_Call(method.get(), none.get(), words.get()); });
  type.old_dlpack = true;  // only now: a TypeError may be about this tensor, and not about max_version
  return capsule;
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

void hold_exchange(Tensor& tensor) {
  DLManagedTensorVersioned* managed = nullptr;
  check_table(tensor.type->table->from_object(tensor.plain(), &managed),
              "managed_tensor_from_py_object_no_sync");
  tensor.owner = owner_of(managed);
}

void describe_dlpack(PyObject* object, const char* name, Tensor& tensor, TypeEntry& type,
                     CallStream& stream) {
  // Tells on which stream to wait before the capsule is asked for.
  static const Name kDlpackDevice("__dlpack_device__");
  const Ref place = kDlpackDevice.call_on(object);
  std::int64_t device[2] = {};
  if (integers_of(place.get(), device, 2, "__dlpack_device__()") != 2)
    fail(PyExc_TypeError, "__dlpack_device__() must give two numbers");
  tensor.dl.device = {static_cast<std::int32_t>(device[0]), static_cast<std::int32_t>(device[1])};
  Ref number = Ref::borrowed(Py_None);
  if (tensor.on_gpu()) {
    if (!stream) stream = current_stream(tensor);
    // CUDA's default stream is 1 for DLPack, ROCm's 0.
    const auto handle = reinterpret_cast<std::size_t>(*stream);
    number = Ref::owned(PyLong_FromSize_t(handle == 0 && device[0] != RELAYOUT_DL_ROCM ? 1 : handle));
  }
  const Ref capsule = dlpack_capsule(object, number.get(), type);
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
