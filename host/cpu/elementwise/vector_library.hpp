// The vector functions of the C library (libmvec of glibc 2.35 and later), found when the program runs.
#pragma once

#include <cstring>
#include <string>
#include <type_traits>

#include "host/cpu/elementwise/vector_words.hpp"

#if defined(RELAYOUT_X86) && defined(__linux__)
#include <dlfcn.h>

namespace relayout::native::RELAYOUT_VECTORS {

/// What the library has for vectors of f32 or of f64.
template <class T>
struct VectorLibrary {
  using OfOne = Vector<T> (*)(Vector<T>);
  using OfTwo = Vector<T> (*)(Vector<T>, Vector<T>);
  OfOne exp, exp2, expm1, log, log2, sin, cos, tan, sinh, cosh, asin, acos, atan, erf;
  OfTwo pow, atan2;
  bool is_complete = true;

  explicit VectorLibrary(void* library) {
    find(library, exp, "v_exp");
    find(library, exp2, "v_exp2");
    find(library, expm1, "v_expm1");
    find(library, log, "v_log");
    find(library, log2, "v_log2");
    find(library, sin, "v_sin");
    find(library, cos, "v_cos");
    find(library, tan, "v_tan");
    find(library, sinh, "v_sinh");
    find(library, cosh, "v_cosh");
    find(library, asin, "v_asin");
    find(library, acos, "v_acos");
    find(library, atan, "v_atan");
    find(library, erf, "v_erf");
    find(library, pow, "vv_pow");
    find(library, atan2, "vv_atan2");
  }

 private:
  /// By its name in the vector ABI of x86: a letter for the instructions, the width, the operands.
  template <class Function>
  void find(void* library, Function& function, const char* name) {
    const bool single = std::is_same_v<T, float>;
    const std::string symbol = std::string("_ZGV") + kLibraryLetter + "N" +
                               std::to_string(single ? kFloats : kDoubles) + name + (single ? "f" : "");
    void* const found = library == nullptr ? nullptr : dlsym(library, symbol.c_str());
    is_complete = is_complete && found != nullptr;
    std::memcpy(&function, &found, sizeof found);
  }
};

/// It stays open: other threads may compute while the program ends.
inline void* open_library() {
  static void* const library = dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL);
  return library;
}
template <class T>
const VectorLibrary<T>& library() {
  static const VectorLibrary<T> found(open_library());
  return found;
}

}  // namespace relayout::native::RELAYOUT_VECTORS
#endif
