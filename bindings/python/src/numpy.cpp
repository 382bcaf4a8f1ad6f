// numpy's arrays, by the struct behind __array_struct__.
#include "bindings/python/src/tensor.hpp"

namespace relayout::python {
namespace {

/// numpy's description of an array: the struct behind __array_struct__.
struct ArrayInterface {
  int two;
  int nd;
  char typekind;
  int itemsize;
  int flags;
  Py_intptr_t* shape;
  Py_intptr_t* strides;
  void* data;
  PyObject* descr;
};
constexpr int kNotSwapped = 0x200, kWriteable = 0x400;

/// The class of a numpy type by its letter; others are looked up by name.
relayout_dl_dtype numpy_type(const ArrayInterface& array, PyObject* object, const char* name) {
  const auto bits = static_cast<std::uint8_t>(array.itemsize * 8);
  if (array.itemsize > 1 && (array.flags & kNotSwapped) == 0)
    fail(RELAYOUT_DTYPE, std::string(name) + " has elements whose bytes are swapped");
  if (array.itemsize <= 16) {
    switch (array.typekind) {
      case 'b':
        return {RELAYOUT_DL_BOOL, bits, 1};
      case 'i':
        return {RELAYOUT_DL_INT, bits, 1};
      case 'u':
        return {RELAYOUT_DL_UINT, bits, 1};
      case 'c':
        return {RELAYOUT_DL_COMPLEX, bits, 1};
      case 'f':
        if (array.itemsize > 1) return {RELAYOUT_DL_FLOAT, bits, 1};
        break;
      default:
        break;
    }
  }
  const Ref dtype = Ref::owned(PyObject_GetAttrString(object, "dtype"));
  const Ref words = Ref::owned(PyObject_Str(dtype.get()));
  const relayout_dl_dtype type = dtype_named(text_of(words.get()));
  if (type.code == 255)
    fail(RELAYOUT_DTYPE,
         std::string(name) + " has numpy's type " + text_of(words.get()) + ", which relayout does not have");
  return type;
}

}  // namespace

void describe_numpy(PyObject* object, const char* name, Tensor& tensor) {
  static const Name kArrayStruct("__array_struct__");
  const Ref capsule = kArrayStruct.of(object);
  const auto* array = static_cast<const ArrayInterface*>(PyCapsule_GetPointer(capsule.get(), nullptr));
  if (array == nullptr) throw PythonError();
  set_rank(tensor, array->nd, name);
  tensor.dl.dtype = numpy_type(*array, object, name);
  tensor.dl.device = {RELAYOUT_DL_CPU, 0};
  tensor.dl.data = array->data;
  tensor.read_only = (array->flags & kWriteable) == 0;
  // An array has its memory as long as it lives. A scalar's is that of an array which only the capsule holds.
  if (!tensor.type->is_numpy) {
    tensor.owner = std::make_shared<Ref>(capsule);
    tensor.read_only = tensor.read_only || is_number(object);
  }
  for (int axis = 0; axis < array->nd; ++axis) {
    tensor.shape[axis] = array->shape[axis];
    set_byte_stride(tensor, axis, array->strides[axis], array->itemsize, name);
  }
}

}  // namespace relayout::python
