// Errors: the code, and words that the sentence must contain.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <relayout/error.hpp>

namespace relayout::test {

/// Expects an Error of this code, whose sentence has all `words`.
void expect_error(ErrorCode code, const std::vector<std::string>& words, const std::function<void()>& call);

}  // namespace relayout::test
