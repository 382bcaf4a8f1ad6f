// Where the part of a row lies that a block of the stream kernels moves.
#pragma once

#include "core/copy_params.hpp"
#include "kernels/block_index.hpp"
#include "kernels/copy/operand_pointers.hpp"
#include "kernels/divide.hpp"

namespace relayout::RELAYOUT_BACKEND {

struct StreamRow {
  const unsigned char* in;
  unsigned char* out;
  std::uint32_t block;  // of the row's
};

__device__ __forceinline__ StreamRow stream_row(const StreamParams& p) {
  StreamRow row{static_cast<const unsigned char*>(input_of(p)), static_cast<unsigned char*>(output_of(p)),
                block_index()};
  if (p.outer_rank == 0) return row;
  auto rest = block_index();
  std::uint32_t number = split(rest, p.row_blocks);
  row.block = rest;
#pragma unroll 1
  for (int axis = p.outer_rank - 1; axis >= 0; --axis) {
    std::uint32_t index = number;
    number = split(index, p.axes[axis].extent);
    row.in += index * p.axes[axis].in;
    row.out += index * p.axes[axis].out;
  }
  return row;
}

}  // namespace relayout::RELAYOUT_BACKEND
