// The border between C and C++: what is thrown becomes a status and a sentence.
#pragma once

#include <utility>

#include "bindings/c/relayout.h"
#include "relayout/error.hpp"

namespace relayout::c {

/// Keeps the sentence of the exception that is being handled, and gives its status.
relayout_status keep_error() noexcept;

/// Calls what must not throw into C.
template <class F>
relayout_status guarded(F&& call) noexcept {
  try {
    std::forward<F>(call)();
    return RELAYOUT_OK;
  } catch (...) {
    return keep_error();
  }
}

/// Error{null_pointer} that names the argument.
void check_given(const void* pointer, const char* name);

}  // namespace relayout::c
