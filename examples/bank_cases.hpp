// A permutation's tile in shared memory, laid out in three ways, with the cost of their accesses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <relayout/device.hpp>
#include <relayout/dtype.hpp>
#include <relayout/tensor_view.hpp>

#include "host/plan/copy/bank_model.hpp"

namespace example {

/// The words that one access wants of the banks: in its most expensive phase, the lanes that want each word
/// of a bank.
struct WorstAccess {
  relayout::plan::SharedAccess access = relayout::plan::SharedAccess::write;
  int bytes = 0, passes = 0;
  std::vector<std::vector<std::vector<int>>> lanes;  // [bank][word]
};

struct BankCase {
  std::string name, remark;
  std::int64_t bytes = 0;
  relayout::plan::BankReport report;
  WorstAccess worst;
};

struct BankCases {
  relayout::DeviceProperties device;
  std::string tile;  // in words
  std::vector<BankCase> cases;
};

/// The tile that the planner takes for a contiguous tensor: dense, as the tile kernel lays it out, and as the
/// solver would. Throws relayout::Error, and InputError where no tile is used.
BankCases bank_cases(const relayout::Dims& shape, const std::vector<int>& axes, relayout::DType dtype,
                     const relayout::DeviceProperties& device);

}  // namespace example
