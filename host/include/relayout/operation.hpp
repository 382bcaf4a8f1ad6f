// The element-wise operations by name. What each computes, of how many operands, in which type:
// relayout/operations.def and docs/operations.md.
#pragma once

#include <cstdint>

#include <relayout/dtype.hpp>

namespace relayout {

/// An element-wise operation. relayout/operations.def lists them all, with what each gives.
enum class Operation : std::uint8_t {
#define RELAYOUT_OPERATION(name, operands, kind, cost, meaning) name,
#include <relayout/export.hpp>
#include <relayout/operations.def>
};

#define RELAYOUT_OPERATION(name, operands, kind, cost, meaning) +1
/// How many operations there are.
constexpr int kOperations = 0
#include <relayout/operations.def>
    ;

/// The enumerator's name, as in "add".
RELAYOUT_API const char* name_of(Operation operation) noexcept;
/// How many operands the operation takes: 1, 2 or 3.
RELAYOUT_API int operands_of(Operation operation) noexcept;
/// What it gives, in a few words, as in "a + b".
RELAYOUT_API const char* meaning_of(Operation operation) noexcept;

/// How exactly some operations on f32 are computed. Devices may be more exact than asked; the CPU always is.
enum class Precision : std::uint8_t {
  accurate,    ///< the bounds of docs/operations.md
  full,        ///< truediv within 2 ulp for all operands; tanh and exp stay accurate
  approximate  ///< truediv, sqrt and exp within 2 ulp, tanh within 2^-10 of its value, for operands and
               ///< results between 2^-126 and 2^126; elsewhere, zeros, infinities and NaN included, anything
};

}  // namespace relayout
