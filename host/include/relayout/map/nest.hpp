// The library's part of a call of map(), whatever its functor and element types: checks, the loop nest,
// threads of the host. It is internal to relayout/map.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <relayout/error.hpp>
#include <relayout/export.hpp>
#include <relayout/stream.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout::detail {

constexpr int kMaxMapOperands = 8;
/// Threads of a block; each takes one vector.
constexpr int kMapThreads = 256;

struct MapOperand {
  const void* data = nullptr;
  std::int64_t strides[kMaxRank] = {};
};

/// A loop nest over an output and its operands, plain data for kernels. Axis rank - 1 is the innermost and
/// the output's fastest: its elements are a row. Strides count elements of the tensor's own type.
struct MapNest {
  void* out = nullptr;
  std::int32_t rank = 1;
  /// Rows are cut into vectors of this many elements: the kernel's own number, or 1. Vectors begin at
  /// multiples of their size in the output, so that a row meets row_vectors of them, the first and the last
  /// in part.
  std::int32_t width = 1;
  bool fits_32_bits = false;  // vectors are counted in 32 bits
  std::int64_t elements = 0, row_vectors = 0, vectors = 0;
  std::int64_t extents[kMaxRank] = {}, out_strides[kMaxRank] = {};
  MapOperand operand[kMaxMapOperands];
};

/// What a call knows when it is compiled.
struct MapCall {
  const char* backend;               // whose GPUs it was compiled for, or null
  DType types[1 + kMaxMapOperands];  // the output's, then the operands'
  int operands;
  int width;  // elements of a vector
};

/// Makes the checks of map(), in its order, and the nest. When it has no elements, there is nothing to do.
RELAYOUT_API MapNest map_nest(const Device& device, const MapCall& call,
                              const std::vector<TensorView>& operands, const TensorView& out);

/// Error{invalid_argument} where a plan for `device` is given a stream of another one.
RELAYOUT_API void check_map_stream(const Device& device, const Stream& stream);

/// The plan in plain words.
RELAYOUT_API std::string explain_map(const Device& device, const MapCall& call, const MapNest& nest);

/// Calls body(context, begin, end) with ranges that cover [0, count), on several threads where `elements`
/// is large enough.
RELAYOUT_API void run_ranges(std::int64_t count, std::int64_t elements,
                             void (*body)(const void* context, std::int64_t begin, std::int64_t end),
                             const void* context);

/// Converts the bits of f16 to floats and back, by the instructions of the processor where it has them.
RELAYOUT_API void widen(const std::uint16_t* from, float* to, std::int64_t count);
RELAYOUT_API void narrow(const float* from, std::uint16_t* to, std::int64_t count);

}  // namespace relayout::detail
