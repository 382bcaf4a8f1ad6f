// The vendor's library as blas.cpp reaches it: linked, or opened when the program runs (RELAYOUT_OPEN_BLAS),
// so that one binary runs with it and without it.
#pragma once

#ifdef RELAYOUT_OPEN_BLAS
#include <dlfcn.h>
#endif

namespace relayout::RELAYOUT_BACKEND {

#ifdef RELAYOUT_OPEN_BLAS
/// Stays open: its own threads and handles may outlive the program's static objects.
class BlasLibrary {
 public:
  explicit BlasLibrary(const char* name) noexcept : handle_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {}
  void* find(const char* function) noexcept {
    void* const found = handle_ != nullptr ? dlsym(handle_, function) : nullptr;
    is_complete_ = is_complete_ && found != nullptr;
    return found;
  }
  /// Whether the library is there, and had every function that was looked for.
  bool is_complete() const noexcept { return is_complete_; }

 private:
  void* handle_;
  bool is_complete_ = true;
};

// A pointer to a function of the library; its name may be a macro for another one.
#define RELAYOUT_BLAS_FUNCTION(library, name) \
  reinterpret_cast<decltype(&name)>((library).find(RELAYOUT_BLAS_NAME(name)))
#define RELAYOUT_BLAS_NAME(name) RELAYOUT_BLAS_TEXT(name)
#define RELAYOUT_BLAS_TEXT(name) #name
#else
class BlasLibrary {
 public:
  explicit BlasLibrary(const char*) noexcept {}
  bool is_complete() const noexcept { return true; }
};

#define RELAYOUT_BLAS_FUNCTION(library, name) &name
#endif

}  // namespace relayout::RELAYOUT_BACKEND
