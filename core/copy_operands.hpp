// Where a copy's operands are, and how an element is changed on its way: what the parameters of all
// copies have in common.
#pragma once

#include <cstdint>

#include "core/number_format.hpp"

#include <relayout/dtype.hpp>

namespace relayout {

/// Pointers to the operands. A slot, where there is one, is read when the kernel starts, so that a recorded
/// launch can be replayed on other tensors; it lies in memory that the device reads, and `offset` bytes are
/// added to what it holds.
struct CopyOperands {
  const void* in = nullptr;
  void* out = nullptr;
  const void* const* in_slot = nullptr;
  void* const* out_slot = nullptr;
  std::int64_t in_slot_offset = 0, out_slot_offset = 0;
  DType in_type = DType::f32, out_type = DType::f32;

  /// out = alpha * in + beta * out, where `scaled`; `out` is not read for a beta of 0.
  bool scaled = false;
  double alpha = 1, beta = 0;

  /// With `generic_cast`, out = cast(in) by convert_bits. That is every conversion except those among f16,
  /// bf16, f32 and f64 to nearest even, for which kernels have instances of their own.
  bool generic_cast = false;
  ElementCast cast;
};

}  // namespace relayout
