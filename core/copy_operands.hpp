// Where a copy's operands are, and how an element is changed on its way: what the parameters of all
// copies have in common.
#pragma once

#include <cstdint>

#include "core/number_format.hpp"

#include <relayout/dtype.hpp>

namespace relayout {

/// Shared memory of the table by which kernels cast elements of 1 byte to others
/// (kernels/copy/cast_table.hpp).
constexpr int kCastTableBytes = 256;
/// Such a table that was made beforehand: what each byte becomes.
struct alignas(16) ByteTable {
  std::uint8_t values[kCastTableBytes];
};
constexpr int cast_table_bytes_of(DType in, DType out) {
  return in != out && size_of(in) == 1 && size_of(out) == 1 ? kCastTableBytes : 0;
}

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

  /// What to convert where the types differ. With `generic_cast`, kernels have no instance of their own for
  /// the pair of types, as some have for those among f16, bf16, f32 and f64 to nearest even.
  bool generic_cast = false;
  ElementCast cast;
};

}  // namespace relayout
