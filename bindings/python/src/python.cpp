#include "bindings/python/src/python.hpp"

#include <unistd.h>

namespace relayout::python {

PyObject* error_type = nullptr;

void fail(PyObject* type, const std::string& sentence) {
  PyErr_SetString(type, sentence.c_str());
  throw PythonError();
}

void fail(relayout_status status, const std::string& sentence) {
  const Ref error =
      Ref::owned(PyObject_CallFunction(error_type, "ss", sentence.c_str(), relayout_status_name(status)));
  PyErr_SetObject(error_type, error.get());
  throw PythonError();
}

void check(relayout_status status) {
  if (status != RELAYOUT_OK) fail(status, relayout_last_error());
}

void check_table(int result, const char* function) {
  if (result == 0) return;
  if (PyErr_Occurred() == nullptr)
    fail(PyExc_RuntimeError, std::string("a framework's DLPack function failed without a word: ") + function);
  throw PythonError();
}

void sleep_for_ever() noexcept {
  for (;;) pause();
}

std::string text_of(PyObject* object) {
  const Ref bytes = Ref::owned(PyUnicode_AsUTF8String(object));
  return PyBytes_AsString(bytes.get());
}

std::string type_name(PyObject* object) {
  const Ref name =
      Ref::owned(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__name__"));
  return text_of(name.get());
}

std::int64_t integer_of(PyObject* object) {
  const Ref number = Ref::owned(PyNumber_Index(object));
  const long long value = PyLong_AsLongLong(number.get());
  if (value == -1 && PyErr_Occurred() != nullptr) throw PythonError();
  return value;
}

int integers_of(PyObject* sequence, std::int64_t* items, int most, const char* name) {
  if (PyTuple_Check(sequence) == 0 && PyList_Check(sequence) == 0) {
    fail(PyExc_TypeError, std::string(name) + " must be a tuple or a list of numbers, and is of the type " +
                              type_name(sequence));
  }
  const Py_ssize_t count = PySequence_Size(sequence);
  if (count > most) {
    fail(RELAYOUT_RANK, std::string(name) + " has " + std::to_string(count) + " numbers, and at most " +
                            std::to_string(most) + " can be");
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    const Ref item = Ref::owned(PySequence_GetItem(sequence, i));
    items[i] = integer_of(item.get());
  }
  return static_cast<int>(count);
}

}  // namespace relayout::python
