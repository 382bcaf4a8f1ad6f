// What the objects of relayout/_redistribute.py are made of: handles of the library for C as capsules, and
// the arguments of functions on them.
#pragma once

#include <cstdint>
#include <memory>

#include "bindings/python/src/call.hpp"

namespace relayout::python {

inline constexpr const char *kDistribution = "relayout.distribution", *kGroup = "relayout.group";

template <class T>
T* pointer_of(PyObject* capsule, const char* name) {
  void* const pointer = PyCapsule_GetPointer(capsule, name);
  if (pointer == nullptr) throw PythonError();
  return static_cast<T*>(pointer);
}

/// A capsule of what make(&handle) gave.
template <class T, class Make>
Ref capsule_of(const char* name, void (*destroy)(PyObject*), void (*free)(T*), const Make& make) {
  T* made = nullptr;
  check(make(&made));
  std::unique_ptr<T, void (*)(T*)> handle(made, free);
  Ref capsule = Ref::owned(PyCapsule_New(made, name, destroy));
  (void)handle.release();
  return capsule;
}

template <class... Pointers>
void parse(PyObject* arguments, const char* format, Pointers... pointers) {
  if (PyArg_ParseTuple(arguments, format, pointers...) == 0) throw PythonError();
}

struct Numbers {
  std::int64_t items[kMaxRank];
  int count;
  Numbers(PyObject* sequence, const char* name) : count(integers_of(sequence, items, kMaxRank, name)) {}
};

}  // namespace relayout::python
