// From a call's text and buffers to a plan of relayout.h.
#pragma once

#include <stdexcept>
#include <vector>

#include "bindings/c/relayout.h"
#include "bindings/python/jax/specification.hpp"

namespace relayout::jax {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Failure with the library's sentence.
inline void check(relayout_status status) {
  if (status != RELAYOUT_OK) throw Failure(relayout_last_error());
}

/// The tensors that an operation can have: in a chain the operands and the result, in the others those of its
/// function in relayout.h, in that order. Null ones were left out.
using Slots = std::vector<const relayout_tensor*>;

/// The slots whose memory relayout_run_on takes; what else a plan has stays where it was planned.
struct Exchangeable {
  std::vector<std::size_t> inputs;
  std::size_t out;
};
Exchangeable exchangeable(const std::string& operation, std::size_t slot_count);

/// How many slots an operation has beside its buffers' number, which counts in a chain.
std::size_t slot_count(const std::string& operation, std::size_t buffer_count);

relayout_plan* make_plan(const Specification& specification, const Slots& slots,
                         const relayout_device* device);

}  // namespace relayout::jax
