// A box of a tensor on the device, copied to the host.
#pragma once

#include <string>
#include <vector>

#include <relayout/relayout.hpp>

namespace relayout::bench::random {

/// Index i of each axis with begin <= i < end.
struct Box {
  Dims begin, end;
  std::int64_t elements() const;
};

class HostTensor {
 public:
  HostTensor(const Stream& stream, const TensorView& tensor, const Box& box);
  /// Contiguous; index 0 is the box's begin.
  TensorView view() const { return TensorView(memory_.data(), type_, shape_); }

 private:
  DType type_;
  Dims shape_;
  std::vector<char> memory_;
};

/// "12 elements differ from the reference, the first at [0, 3]".
std::string mismatch(std::int64_t count, const Box& box, const Dims& first);

/// out = in, element by element, cast on the way: on a GPU by the kernel that takes every copy, whatever the
/// planner would choose. Its offsets are of 64 bits.
void gather(const Stream& stream, const TensorView& in, const TensorView& out);

}  // namespace relayout::bench::random
