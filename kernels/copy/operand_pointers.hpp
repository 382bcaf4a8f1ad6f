// The addresses of the operands when a kernel runs: the planned ones, or those in slots.
#pragma once

#include "core/copy_operands.hpp"
#include "kernel_language.hpp"

namespace relayout::RELAYOUT_BACKEND {

__device__ __forceinline__ const void* input_of(const CopyOperands& p) {
  if (p.in_slot == nullptr) return p.in;
  return static_cast<const unsigned char*>(*p.in_slot) + p.in_slot_offset;
}

__device__ __forceinline__ void* output_of(const CopyOperands& p) {
  if (p.out_slot == nullptr) return p.out;
  return static_cast<unsigned char*>(*p.out_slot) + p.out_slot_offset;
}

}  // namespace relayout::RELAYOUT_BACKEND
