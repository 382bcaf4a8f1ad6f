// Python's stable interface, and the little that makes it safe in C++: references that count themselves, and
// errors that are thrown while Python holds their description.
#pragma once

#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x03090000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <cxxabi.h>

#include <cstdint>
#include <string>
#include <utility>

#include "bindings/c/relayout.h"

namespace relayout::python {

/// A function of the module takes its arguments as an array, without a tuple around them. CPython calls it so
/// since 3.7, but its stable interface has a name for it only since 3.10.
constexpr int kArrayCall = 0x0080;

/// As a method table has functions of any arguments.
template <class F>
PyCFunction any_function(F* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

/// Thrown when Python has an exception set; the functions of the module return null then.
struct PythonError {};

/// An owned reference.
class Ref {
 public:
  Ref() = default;
  /// Takes over a new reference; throws PythonError for null.
  static Ref owned(PyObject* object) {
    if (object == nullptr) throw PythonError();
    return Ref(object);
  }
  /// Adds a reference of its own.
  static Ref borrowed(PyObject* object) {
    Py_XINCREF(object);
    return Ref(object);
  }
  Ref(const Ref& other) : object_(other.object_) { Py_XINCREF(object_); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }

  PyObject* get() const noexcept { return object_; }
  PyObject* release() noexcept { return std::exchange(object_, nullptr); }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  explicit Ref(PyObject* object) : object_(object) {}
  PyObject* object_ = nullptr;
};

/// Sets a Python exception of this type and throws PythonError.
[[noreturn]] void fail(PyObject* type, const std::string& sentence);
/// relayout.Error with the status's name as its code.
[[noreturn]] void fail(relayout_status status, const std::string& sentence);
/// relayout.Error with the library's sentence, unless the status is RELAYOUT_OK.
void check(relayout_status status);

/// Throws PythonError unless a function of a framework's table gave 0; it should have set an exception.
void check_table(int result, const char* function);

/// Until the process has ended.
[[noreturn]] void sleep_for_ever() noexcept;

/// Gives what a function of Python's gives that may let go of Python's lock and take it again. When the
/// interpreter ends, Python before 3.14 ends a daemon thread that asks for the lock by unwinding its stack,
/// whose destructors would give back Python's objects without the lock. So such a thread sleeps here, as
/// Python 3.14 has it.
template <class F>
auto with_lock_back(const F& call) -> decltype(call()) {
  try {
    return call();
  } catch (const abi::__forced_unwind&) {
    sleep_for_ever();
  }
}

/// Runs what does not need Python without Python's lock: other threads, which it may wait for, run meanwhile.
template <class F>
relayout_status without_lock(const F& call) {
  PyThreadState* const state = PyEval_SaveThread();
  const relayout_status status = call();
  with_lock_back([&] { PyEval_RestoreThread(state); });
  return status;
}

/// A new reference from a function of Python's that may run code in Python.
template <class F>
Ref asked(const F& call) {
  return Ref::owned(with_lock_back(call));
}

/// The name of an attribute as Python's string, which is made once: for a static constant.
class Name {
 public:
  explicit Name(const char* name) : interned_(PyUnicode_InternFromString(name)) {}
  Ref of(PyObject* object) const {
    return asked([&] { return PyObject_GetAttr(object, interned_); });
  }
  /// Calls the method without arguments, and without making an object of it.
  Ref call_on(PyObject* object) const {
    return asked([&] { return PyObject_CallMethodObjArgs(object, interned_, nullptr); });
  }
  bool is(PyObject* name) const { return name == interned_ || PyUnicode_Compare(name, interned_) == 0; }

 private:
  PyObject* interned_;  // never given back
};

/// Text of a str object.
std::string text_of(PyObject* object);
/// type(object).__name__
std::string type_name(PyObject* object);
/// A number that fits 64 bits.
std::int64_t integer_of(PyObject* object);
/// The items of a tuple or list of numbers.
int integers_of(PyObject* sequence, std::int64_t* items, int most, const char* name);

/// relayout.Error, which the module makes.
extern PyObject* error_type;

/// Runs what may throw and turns it into a Python exception.
template <class F>
PyObject* returning(F&& call) noexcept {
  try {
    return std::forward<F>(call)().release();
  } catch (const PythonError&) {
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_SystemError, error.what());
  }
  return nullptr;
}

}  // namespace relayout::python
