// An error that the user can correct: a bad option, a bad file. The program prints the sentence and exits
// with 2.
#pragma once

#include <stdexcept>

namespace example {

struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace example
