// New tensors of a framework's kind.
#include <algorithm>
#include <map>

#include "bindings/python/src/tensor.hpp"

namespace relayout::python {
namespace {

/// Allocators report through this; Python then has the exception.
void set_allocator_error(void*, const char* kind, const char* message) {
  PyErr_Format(PyExc_MemoryError, "%s: %s", kind, message);
}

Ref allocate_by_table(const DLPackExchangeAPI& table, const Tensor& prototype, relayout_dl_dtype dtype,
                      int rank, const std::int64_t* shape) {
  std::int64_t extents[kMaxRank] = {};
  std::copy(shape, shape + rank, extents);
  relayout_tensor wanted = {nullptr, prototype.dl.device, rank, dtype, extents, nullptr, 0};
  DLManagedTensorVersioned* managed = nullptr;
  check_table(table.allocate(&wanted, &managed, nullptr, set_allocator_error), "managed_tensor_allocator");
  void* object = nullptr;
  // DLPack has it that this function takes the tensor over, also where it fails.
  check_table(table.to_object(managed, &object), "managed_tensor_to_py_object_no_sync");
  return Ref::owned(static_cast<PyObject*>(object));
}

/// numpy.empty and numpy's types, asked for once. Guarded by Python's lock.
Ref allocate_numpy(relayout_dl_dtype dtype, const Ref& extents) {
  static PyObject* make = nullptr;
  if (make == nullptr)
    make = Ref::owned(PyObject_CallMethod(frameworks, "numpy_function", "s", "empty")).release();
  static std::map<std::string, PyObject*> types;
  PyObject*& type = types[dtype_name(dtype)];
  if (type == nullptr)
    type =
        Ref::owned(PyObject_CallMethod(frameworks, "numpy_type", "s", dtype_name(dtype).c_str())).release();
  return asked([&] { return PyObject_CallFunctionObjArgs(make, extents.get(), type, nullptr); });
}

}  // namespace

Ref allocate_like(const Tensor& prototype, relayout_dl_dtype dtype, int rank, const std::int64_t* shape) {
  const bool is_view = Py_TYPE(prototype.object.get()) == reinterpret_cast<PyTypeObject*>(view_type);
  if (!is_view && prototype.type->protocol == Protocol::exchange &&
      prototype.type->table->allocate != nullptr)
    return allocate_by_table(*prototype.type->table, prototype, dtype, rank, shape);
  if (dtype_name(dtype).empty())
    fail(RELAYOUT_DTYPE,
         "relayout has no name for the element type of x, so no output of it can be made: give out=");
  const Ref extents = Ref::owned(PyTuple_New(rank));
  for (int axis = 0; axis < rank; ++axis)
    PyTuple_SetItem(extents.get(), axis, Ref::owned(PyLong_FromLongLong(shape[axis])).release());
  if (!is_view && prototype.type->is_numpy) return allocate_numpy(dtype, extents);
  const std::string name = dtype_name(dtype);
  return asked([&] {
    return PyObject_CallMethod(frameworks, "empty", "OOs", prototype.object.get(), extents.get(),
                               name.c_str());
  });
}

}  // namespace relayout::python
