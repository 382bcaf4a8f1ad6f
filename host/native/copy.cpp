// permute, copy and cast: any loop nest, in blocks that are read along the input's fastest axis and written
// along the output's. Every input element is read once and every output element written once.
#include <algorithm>

#include "host/native/convert.hpp"
#include "host/native/dispatch.hpp"
#include "host/native/native_table.hpp"
#include "host/native/parallel.hpp"
#include "host/native/transpose.hpp"

namespace relayout::native {
namespace {

/// A row longer than this is split, so that a nest of one long axis has work for every thread.
constexpr std::int64_t kRowBlock = 16384;

/// The loops around a block. Steps count elements.
struct BlockLoop {
  int rank = 0;
  std::int64_t counts[kMaxRank] = {}, in_steps[kMaxRank] = {}, out_steps[kMaxRank] = {};

  void push(std::int64_t count, std::int64_t in_step, std::int64_t out_step) {
    counts[rank] = count;
    in_steps[rank] = in_step;
    out_steps[rank] = out_step;
    ++rank;
  }
  std::int64_t total() const {
    std::int64_t product = 1;
    for (int axis = 0; axis < rank; ++axis) product *= counts[axis];
    return product;
  }
};

/// A position in a BlockLoop; moving on costs no division.
class Cursor {
 public:
  Cursor(const BlockLoop& loop, std::int64_t linear) : loop_(loop) {
    for (int axis = loop.rank; axis-- > 0; linear /= loop.counts[axis]) {
      index_[axis] = linear % loop.counts[axis];
      in_ += index_[axis] * loop.in_steps[axis];
      out_ += index_[axis] * loop.out_steps[axis];
    }
  }
  void next() {
    for (int axis = loop_.rank; axis-- > 0;) {
      in_ += loop_.in_steps[axis];
      out_ += loop_.out_steps[axis];
      if (++index_[axis] < loop_.counts[axis]) return;
      in_ -= loop_.counts[axis] * loop_.in_steps[axis];
      out_ -= loop_.counts[axis] * loop_.out_steps[axis];
      index_[axis] = 0;
    }
  }
  std::int64_t index(int axis) const { return index_[axis]; }
  std::int64_t in() const { return in_; }
  std::int64_t out() const { return out_; }

 private:
  const BlockLoop& loop_;
  std::int64_t index_[kMaxRank] = {};
  std::int64_t in_ = 0, out_ = 0;
};

/// A block's axis: an axis of the nest, cut into pieces.
struct BlockAxis {
  std::int64_t extent = 1, block = 1, in_stride = 0, out_stride = 0;
  int loop_axis = 0;  // counts the pieces

  BlockAxis(const CopyParams& params, int axis, std::int64_t longest, BlockLoop& loop)
      : extent(params.extents[axis]),
        block(std::min(longest, params.extents[axis])),
        in_stride(params.in_strides[axis]),
        out_stride(params.out_strides[axis]),
        loop_axis(loop.rank) {
    loop.push((extent + block - 1) / block, block * in_stride, block * out_stride);
  }
  std::int64_t count(const Cursor& cursor) const {
    return std::min(block, extent - cursor.index(loop_axis) * block);
  }
};

template <class In, class Out>
void copy_tiles(const CopyParams& params, BlockLoop& loop) {
  const BlockAxis in_axis(params, params.in_axis, kBlock<Out>, loop);
  const BlockAxis out_axis(params, params.rank - 1, kBlock<Out>, loop);
  parallel_ranges(loop.total(), params.elements, [&](std::int64_t begin, std::int64_t end) {
    Cursor cursor(loop, begin);
    for (std::int64_t block = begin; block < end; ++block, cursor.next()) {
      convert_transposed(
          static_cast<const In*>(params.in) + cursor.in(), {in_axis.in_stride, out_axis.in_stride},
          static_cast<Out*>(params.out) + cursor.out(), {in_axis.out_stride, out_axis.out_stride},
          in_axis.count(cursor), out_axis.count(cursor));
    }
  });
}

template <class In, class Out>
void copy_rows(const CopyParams& params, BlockLoop& loop) {
  const BlockAxis row(params, params.rank - 1, kRowBlock, loop);
  parallel_ranges(loop.total(), params.elements, [&](std::int64_t begin, std::int64_t end) {
    Cursor cursor(loop, begin);
    for (std::int64_t block = begin; block < end; ++block, cursor.next()) {
      convert_strided(static_cast<const In*>(params.in) + cursor.in(), row.in_stride,
                      static_cast<Out*>(params.out) + cursor.out(), row.out_stride, row.count(cursor));
    }
  });
}

template <class In, class Out>
void copy_nest(const CopyParams& params) {
  if (params.rank == 0) {
    *static_cast<Out*>(params.out) = convert<Out>(*static_cast<const In*>(params.in));
    return;
  }
  const bool tiled = params.in_axis != params.rank - 1;
  BlockLoop loop;
  for (int axis = 0; axis < params.rank - 1; ++axis) {
    if (tiled && axis == params.in_axis) continue;
    loop.push(params.extents[axis], params.in_strides[axis], params.out_strides[axis]);
  }
  if (tiled) {
    copy_tiles<In, Out>(params, loop);
  } else {
    copy_rows<In, Out>(params, loop);
  }
}

}  // namespace

void copy(const LaunchContext& /*context*/, const CopyParams& params) {
  if (params.elements == 0) return;
  with_types(params.in_type, params.out_type, [&params](auto in, auto out) {
    copy_nest<typename decltype(in)::type, typename decltype(out)::type>(params);
  });
}

}  // namespace relayout::native
