#include "host/cpu/elementwise/elementwise_constant.hpp"

#include <algorithm>
#include <cstring>

#include "core/bytes.hpp"
#include "host/cpu/elementwise/elementwise_operand.hpp"
#include "host/cpu/elementwise/packed_boxes.hpp"
#include "host/cpu/parallel.hpp"
#include "host/cpu/streaming.hpp"

namespace relayout::native {
namespace {

constexpr std::int64_t kPatternBytes = 4096;
constexpr std::int64_t kLongRow = 64;  // elements

/// Many copies of one element.
struct Pattern {
  alignas(kLineBytes) char elements[kPatternBytes];
  std::int64_t bytes;  // of one

  explicit Pattern(const ElementwiseParams& p) : bytes(bytes_of(p.out_type)) {
    ElementwiseParams one = p;
    one.rank = 1;
    one.elements = one.extents[0] = one.out_strides[0] = 1;
    one.out = elements;
    elementwise_pieces(one);
    for (std::int64_t done = bytes; done < kPatternBytes; done *= 2)
      std::memcpy(elements + done, elements, static_cast<std::size_t>(done));
  }

  void write(char* out, std::int64_t count, bool streamed) const {
    if (bytes == 1 && !streamed) {
      std::memset(out, elements[0], static_cast<std::size_t>(count));
      return;
    }
    for (std::int64_t at = 0, part = 0; at < count * bytes; at += part) {
      part = std::min(kPatternBytes, count * bytes - at);
      if (streamed) {
        stream_row(out + at, elements, part);
      } else {
        std::memcpy(out + at, elements, static_cast<std::size_t>(part));
      }
    }
  }
};

}  // namespace

void constant_elementwise(const ElementwiseParams& p) {
  const Pattern pattern(p);
  const MergedAxes axes(p, p.out_strides);
  const bool streamed =
      p.elements * pattern.bytes > kStreamedBytes && axes.inner_extent() * pattern.bytes >= kPatternBytes;
  // Short rows are written many at a time: a call for each would take longer than its elements.
  const bool in_long_rows = axes.inner_stride() == 1 && axes.inner_extent() >= kLongRow;
  parallel_ranges(p.elements, p.elements, [&](std::int64_t begin, std::int64_t end) {
    OutputCursor out(axes, p.out, pattern.bytes, begin);
    for (std::int64_t at = begin, count = 0; at < end; at += count) {
      count = std::min(end - at, in_long_rows ? out.left() : kPatternBytes / pattern.bytes);
      if (in_long_rows) {
        pattern.write(out.at(), count, streamed);
        out.advance(count);
      } else {
        out.scatter(pattern.elements, count);
      }
    }
    if (streamed) finish_streams();
  });
}

}  // namespace relayout::native
