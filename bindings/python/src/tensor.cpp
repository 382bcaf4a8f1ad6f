#include "bindings/python/src/tensor.hpp"

#include <algorithm>
#include <cstring>
#include <map>

namespace relayout::python {

PyObject* frameworks = nullptr;
PyObject* view_type = nullptr;

namespace {

Ref attribute_or_none(PyObject* object, const char* name) {
  PyObject* const found = PyObject_GetAttrString(object, name);
  if (found == nullptr) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) throw PythonError();
    PyErr_Clear();
    return Ref();
  }
  return Ref::owned(found);
}

Ref helper(const char* name, PyObject* argument) {
  return asked([&] { return PyObject_CallMethod(frameworks, name, "O", argument); });
}

TypeEntry entry_of(PyObject* object) {
  TypeEntry entry{Protocol::dlpack};
  PyObject* const type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  const auto has = [&](const char* name) { return static_cast<bool>(attribute_or_none(type, name)); };
  entry.has_gradients = has("requires_grad");
  entry.is_torch = entry.has_gradients && has("is_conj") && has("is_neg");
  if (entry.is_torch) {
    Ref increment = helper("version_counter", type);
    if (increment.get() != Py_None) entry.increment_version = increment.release();
  }
  const Ref home = attribute_or_none(type, "__module__");
  entry.immutable = home && PyUnicode_Check(home.get()) != 0 && text_of(home.get()).rfind("jax", 0) == 0;
  if (const Ref capsule = attribute_or_none(type, "__dlpack_c_exchange_api__");
      capsule && PyCapsule_IsValid(capsule.get(), "dlpack_exchange_api") != 0) {
    entry.table = usable(
        static_cast<const DLPackExchangeAPI*>(PyCapsule_GetPointer(capsule.get(), "dlpack_exchange_api")));
    entry.protocol = Protocol::exchange;
    if (entry.table != nullptr) return entry;
  }
  if (has("__array_struct__")) {
    entry.protocol = Protocol::array_struct;
    entry.is_numpy = PyObject_IsTrue(helper("is_numpy", type).get()) == 1;
  } else if (entry.has_gradients && has("data_ptr")) {
    entry.protocol = Protocol::torch;
  } else if (has("__dlpack__") && has("__dlpack_device__")) {
    entry.protocol = Protocol::dlpack;
  } else if (has("__cuda_array_interface__")) {
    entry.protocol = Protocol::helper;
  } else {
    fail(PyExc_TypeError, type_name(object) +
                              " is no tensor that relayout knows: it has neither __dlpack__ nor "
                              "__array_struct__ nor __cuda_array_interface__");
  }
  return entry;
}

/// Types are few and live long: each is held, so that its address stays its own. Guarded by Python's lock.
TypeEntry* type_entry(PyObject* object) {
  static std::map<PyTypeObject*, TypeEntry> entries;
  PyTypeObject* const type = Py_TYPE(object);
  const auto found = entries.find(type);
  if (found != entries.end()) return &found->second;
  const TypeEntry entry = entry_of(object);
  Py_INCREF(reinterpret_cast<PyObject*>(type));
  return &entries.emplace(type, entry).first->second;
}

/// A tensor of torch by the table, which says nothing of what is done when it is read, and of a sparse tensor
/// or one without memory only that it fails: its attributes say why.
void describe_torch_exchange(PyObject* object, const char* name, Tensor& tensor) {
  try {
    describe_exchange(object, name, tensor);
  } catch (const PythonError&) {
    PyObject* error[3] = {};
    PyErr_Fetch(&error[0], &error[1], &error[2]);
    Ref held[3];
    for (int i = 0; i < 3; ++i) held[i] = error[i] == nullptr ? Ref() : Ref::owned(error[i]);
    describe_torch(object, name, tensor);
    PyErr_Restore(held[0].release(), held[1].release(), held[2].release());
    throw;
  }
  check_resolved(object, name, tensor.dl.dtype.code == RELAYOUT_DL_COMPLEX);
}

/// From the tuple (address, shape, strides, stride unit, type's name, device type, device id, read-only).
void describe_by_helper(PyObject* object, const char* name, Tensor& tensor) {
  const Ref made = helper("describe", object);
  const auto item = [&](int i) {
    PyObject* const found = PyTuple_GetItem(made.get(), i);
    if (found == nullptr) throw PythonError();
    return found;
  };
  tensor.dl.data = reinterpret_cast<void*>(PyLong_AsSize_t(item(0)));
  if (PyErr_Occurred() != nullptr) throw PythonError();
  set_rank(tensor, integers_of(item(1), tensor.shape, kMaxRank, name), name);
  tensor.dl.dtype = dtype_named(text_of(item(4)));
  if (tensor.dl.dtype.code == 255)
    fail(RELAYOUT_DTYPE,
         std::string(name) + " has the type " + text_of(item(4)) + ", which relayout does not have");
  if (item(2) == Py_None) {
    set_contiguous_strides(tensor);
  } else {
    std::int64_t strides[kMaxRank] = {};
    const int given = integers_of(item(2), strides, kMaxRank, name);
    const std::int64_t unit = integer_of(item(3));
    for (int axis = 0; axis < given && axis < tensor.dl.ndim; ++axis)
      set_byte_stride(tensor, axis, strides[axis], unit, name);
  }
  tensor.dl.device = {static_cast<std::int32_t>(integer_of(item(5))),
                      static_cast<std::int32_t>(integer_of(item(6)))};
  tensor.read_only = PyObject_IsTrue(item(7)) == 1;
}

/// A tensor whose result would lose its gradient is refused, as torch's own __dlpack__ does.
void check_gradient(PyObject* object, const char* name) {
  static const Name kRequiresGrad("requires_grad");
  const Ref wanted = kRequiresGrad.of(object);
  if (wanted.get() != Py_True) return;
  if (PyObject_IsTrue(helper("grad_enabled", object).get()) == 1) {
    fail(RELAYOUT_UNSUPPORTED, std::string(name) +
                                   " requires a gradient, which relayout does not compute: pass " + name +
                                   ".detach(), or call it under torch.no_grad()");
  }
}

}  // namespace

void set_rank(Tensor& tensor, std::int64_t rank, const char* name) {
  if (rank < 0 || rank > kMaxRank) {
    fail(RELAYOUT_RANK, std::string(name) + " has " + std::to_string(rank) +
                            " axes, and relayout takes 0 to " + std::to_string(kMaxRank));
  }
  tensor.dl.ndim = static_cast<std::int32_t>(rank);
  tensor.dl.shape = tensor.shape;
  tensor.dl.strides = tensor.strides;
}

void set_contiguous_strides(Tensor& tensor) {
  std::uint64_t stride = 1;  // may wrap around for shapes that the library refuses
  for (int axis = tensor.dl.ndim - 1; axis >= 0; --axis) {
    tensor.strides[axis] = static_cast<std::int64_t>(stride);
    if (tensor.shape[axis] > 1) stride *= static_cast<std::uint64_t>(tensor.shape[axis]);
  }
}

void set_byte_stride(Tensor& tensor, int axis, std::int64_t stride, std::int64_t bytes, const char* name) {
  if (bytes == 0 || stride % bytes != 0) {
    if (tensor.shape[axis] > 1) {
      fail(RELAYOUT_STRIDE_ALIGNMENT, std::string(name) + " has a stride of " + std::to_string(stride) +
                                          " bytes, no multiple of its " + std::to_string(bytes) +
                                          " bytes an element");
    }
    stride = 0;
  }
  tensor.strides[axis] = bytes == 0 ? 0 : stride / bytes;
}

void* current_stream(const Tensor& tensor) {
  if (!tensor.on_gpu()) return nullptr;
  void* stream = nullptr;
  if (tensor.type->protocol == Protocol::exchange) {
    const relayout_dl_device& device = tensor.dl.device;
    const bool managed = device.device_type == RELAYOUT_DL_CUDA_MANAGED;
    const std::int32_t type = managed ? RELAYOUT_DL_CUDA : device.device_type;
    check_table(tensor.type->table->current_stream(type, device.device_id, &stream), "current_work_stream");
    return stream;
  }
  const Ref handle = helper("current_stream", tensor.object.get());
  stream = reinterpret_cast<void*>(PyLong_AsSize_t(handle.get()));
  if (PyErr_Occurred() != nullptr) throw PythonError();
  return stream;
}

std::int64_t Tensor::elements() const {
  std::int64_t count = 1;
  for (int axis = 0; axis < dl.ndim; ++axis) count *= shape[axis];
  return count;
}

void describe(PyObject* object, const char* name, Tensor& tensor) {
  CallStream stream;
  describe(object, name, tensor, stream);
}

void describe(PyObject* object, const char* name, Tensor& tensor, CallStream& stream) {
  if (Py_TYPE(object) == reinterpret_cast<PyTypeObject*>(view_type)) {
    const Ref array = Ref::owned(PyObject_GetAttrString(object, "array"));
    const Ref dtype = Ref::owned(PyObject_GetAttrString(object, "dtype"));
    describe(array.get(), name, tensor, stream);
    tensor.dl.dtype = dtype_named(text_of(dtype.get()));
    tensor.object = Ref::borrowed(object);
    tensor.array = array;
    return;
  }
  tensor.object = Ref::borrowed(object);
  TypeEntry* const type = type_entry(object);
  tensor.type = type;
  if (type->has_gradients) check_gradient(object, name);
  switch (type->protocol) {
    case Protocol::exchange:
      if (type->is_torch) {
        describe_torch_exchange(object, name, tensor);
      } else {
        describe_exchange(object, name, tensor);
      }
      break;
    case Protocol::array_struct:
      return describe_numpy(object, name, tensor);
    case Protocol::torch:
      describe_torch(object, name, tensor);
      break;
    case Protocol::helper:
      describe_by_helper(object, name, tensor);
      break;
    case Protocol::dlpack:
      return describe_dlpack(object, name, tensor, *type, stream);
  }
  if (tensor.on_gpu() && !stream) stream = current_stream(tensor);
}

void hold_memory(Tensor& tensor) {
  if (tensor.owner) return;
  if (tensor.type->is_torch) {
    static const Name kDetach("detach");
    tensor.owner = std::make_shared<Ref>(kDetach.call_on(tensor.plain()));
  } else if (tensor.type->protocol == Protocol::exchange) {
    hold_exchange(tensor);
  }
}

void mark_written(const Tensor& tensor) {
  if (tensor.type->increment_version == nullptr) return;
  const Ref one = Ref::owned(PyTuple_Pack(1, tensor.plain()));
  asked([&] { return PyObject_CallFunctionObjArgs(tensor.type->increment_version, one.get(), nullptr); });
}

void check_layout(const Tensor& given, const Tensor& planned, const char* name) {
  const auto are_equal = [&](const std::int64_t* a, const std::int64_t* b) {
    return std::equal(a, a + planned.dl.ndim, b);
  };
  if (given.dl.ndim == planned.dl.ndim &&
      std::memcmp(&given.dl.dtype, &planned.dl.dtype, sizeof given.dl.dtype) == 0 &&
      are_equal(given.shape, planned.shape) && are_equal(given.strides, planned.strides) &&
      given.dl.device.device_type == planned.dl.device.device_type &&
      given.dl.device.device_id == planned.dl.device.device_id)
    return;
  fail(RELAYOUT_SHAPE, std::string(name) + " is " + to_string(given) + ", and was planned as " +
                           to_string(planned) + ", on the same device");
}

void check_writable(const Tensor& tensor, const char* name) {
  if (tensor.type->immutable)
    fail(RELAYOUT_INVALID_ARGUMENT, std::string(name) + " is an array of JAX, which nobody may write to");
  if (tensor.read_only)
    fail(RELAYOUT_INVALID_ARGUMENT, std::string(name) + " is read-only, and nothing was written to it");
}

}  // namespace relayout::python
