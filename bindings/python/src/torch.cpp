// Tensors of a torch that has no table for DLPack: by its own attributes, since its __dlpack__ knows neither
// bool nor fp8.
#include <map>

#include "bindings/python/src/tensor.hpp"

namespace relayout::python {
namespace {

/// Types are objects that live as long as torch. Guarded by Python's lock.
relayout_dl_dtype torch_type(PyObject* tensor, const char* name) {
  static std::map<PyObject*, relayout_dl_dtype> types;
  static const Name kDtype("dtype");
  const Ref dtype = kDtype.of(tensor);
  const auto found = types.find(dtype.get());
  if (found != types.end()) return found->second;
  const std::string words = text_of(Ref::owned(PyObject_Str(dtype.get())).get());  // "torch.float32"
  const relayout_dl_dtype type = dtype_named(words.substr(words.rfind('.') + 1));
  if (type.code == 255)
    fail(RELAYOUT_DTYPE, std::string(name) + " has the type " + words + ", which relayout does not have");
  Py_INCREF(dtype.get());
  return types.emplace(dtype.get(), type).first->second;
}

bool is_true(const Ref& object) {
  const int truth = PyObject_IsTrue(object.get());
  if (truth < 0) throw PythonError();
  return truth == 1;
}

}  // namespace

void check_resolved(PyObject* object, const char* name, bool may_be_complex) {
  static const Name kIsConj("is_conj"), kIsNeg("is_neg");
  if ((may_be_complex && is_true(kIsConj.call_on(object))) || is_true(kIsNeg.call_on(object))) {
    fail(PyExc_TypeError, std::string(name) +
                              " is conjugated or negated only when it is read: call resolve_conj() and "
                              "resolve_neg()");
  }
}

void describe_torch(PyObject* object, const char* name, Tensor& tensor) {
  static const Name kLayout("layout"), kIsCpu("is_cpu"), kShape("shape"), kStride("stride"),
      kDataPtr("data_ptr");
  // Guarded by Python's lock, as all such: a guard of C++ would be held while Python gives up its own.
  static PyObject* strided = nullptr;
  if (strided == nullptr)
    strided = Ref::owned(PyObject_CallMethod(frameworks, "torch_strided", nullptr)).release();
  if (kLayout.of(object).get() != strided) {
    const std::string words = text_of(Ref::owned(PyObject_Str(kLayout.of(object).get())).get());
    fail(PyExc_TypeError,
         std::string(name) + " has the layout " + words + ", and relayout takes torch.strided");
  }
  check_resolved(object, name, true);
  tensor.dl.device = {RELAYOUT_DL_CPU, 0};
  if (!is_true(kIsCpu.of(object))) {
    const Ref place = Ref::owned(PyObject_CallMethod(frameworks, "torch_device", "O", object));
    std::int64_t numbers[2] = {};
    integers_of(place.get(), numbers, 2, "the device");
    tensor.dl.device = {static_cast<std::int32_t>(numbers[0]), static_cast<std::int32_t>(numbers[1])};
  }
  tensor.dl.dtype = torch_type(object, name);
  tensor.dl.ndim = integers_of(kShape.of(object).get(), tensor.shape, kMaxRank, name);
  integers_of(kStride.call_on(object).get(), tensor.strides, kMaxRank, name);
  tensor.dl.shape = tensor.shape;
  tensor.dl.strides = tensor.strides;
  tensor.dl.data = reinterpret_cast<void*>(PyLong_AsSize_t(kDataPtr.call_on(object).get()));
  if (PyErr_Occurred() != nullptr) throw PythonError();
}

}  // namespace relayout::python
