// Several sets of operands, so that no call finds in a cache what the call before it left there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "bench/bench_case.hpp"

namespace relayout::bench {

/// From now on there is one set of each operand, whatever it finds in the caches: for runs whose times mean
/// nothing.
void use_one_set();

/// Four times the device's last cache: what operands that are used in turn exceed together.
std::size_t rotation_bytes(const Device& device);
/// Sets of `bytes` each so that all together exceed four times the device's last cache; 1 for large ones.
std::size_t rotation_sets(const Device& device, std::int64_t bytes);

/// A tensor that a case needs in each set.
struct Operand {
  DType dtype;
  Dims shape, strides;  // no gaps: the elements fill the memory
  std::int64_t bytes() const;
};
Operand contiguous_operand(DType dtype, const Dims& shape);

/// Device memory of that size, filled with random numbers in [-1, 1), so that sums of their products stay in
/// f16's range. Types that are not floating get random bits.
Buffer random_buffer(const Stream& stream, DType dtype, std::size_t bytes);

/// One call per set: run(operands), where the last operand is the output and the others hold random numbers.
Prepared prepare_rotated(const Stream& stream, const std::vector<Operand>& operands,
                         const std::function<void(const std::vector<TensorView>&)>& run);

}  // namespace relayout::bench
