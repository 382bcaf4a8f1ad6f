#include "tests/support/expect_error.hpp"

#include <gtest/gtest.h>

namespace relayout::test {

void expect_error(ErrorCode code, const std::vector<std::string>& words, const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_STREQ(name_of(error.code()), name_of(code)) << error.what();
    for (const std::string& word : words)
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
          << "no '" << word << "' in: " << error.what();
    return;
  }
  ADD_FAILURE() << "expected Error{" << name_of(code) << "}, but the call returned";
}

}  // namespace relayout::test
