// Every case's operands and result as files, so that another program can compare them with its own.
#pragma once

#include <string>

#include "bench/bench_case.hpp"

namespace relayout::bench {

/// Runs each case once. FOLDER/cases.json lists them, each tensor with its file (raw elements in memory
/// order), type, shape and strides. Error{invalid_argument} for a case of more than 64 MiB.
void dump_cases(const Stream& stream, const BenchCases& cases, const std::string& folder);

}  // namespace relayout::bench
