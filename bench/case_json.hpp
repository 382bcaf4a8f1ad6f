// The parameter structs of the tests as JSON: enough for another program to run the same case.
#pragma once

#include <sstream>
#include <string>

#include "bench/bench_case.hpp"
#include "bench/shape_text.hpp"
#include "tests/cases/cast_case.hpp"
#include "tests/cases/img2col_case.hpp"
#include "tests/cases/pad_case.hpp"
#include "tests/cases/permute_case.hpp"

namespace relayout::bench {

Json parameters_of(const cases::CastCase& c);
Json parameters_of(const cases::PadCase& c);
Json parameters_of(const cases::Img2colCase& c);
Json parameters_of(const cases::PermuteCase& c);  // of contiguous tensors

/// What operator<< prints.
template <class Case>
std::string printed(const Case& c) {
  std::ostringstream text;
  text << c;
  return text.str();
}

}  // namespace relayout::bench
