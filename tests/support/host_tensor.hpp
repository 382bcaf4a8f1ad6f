// Host memory of exactly the bytes that a view reaches and one more, for what needs no guard bands.
#pragma once

#include <vector>

#include <relayout/tensor_view.hpp>

namespace relayout::test {

struct HostTensor {
  std::vector<unsigned char> bytes;
  TensorView view;

  HostTensor(DType dtype, const Dims& shape, const Dims& strides) {
    const TensorView::ByteRange range = TensorView(nullptr, dtype, shape, strides).byte_range();
    bytes.assign(static_cast<std::size_t>(range.end - range.begin) + 1, 0xA5);
    view = TensorView(bytes.data() - range.begin, dtype, shape, strides);
  }
  HostTensor(DType dtype, const Dims& shape) : HostTensor(dtype, shape, contiguous_strides(shape)) {}
};

}  // namespace relayout::test
