// How a case lays a tensor out in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include <relayout/tensor_view.hpp>

namespace relayout::cases {

/// Layouts of a tensor of any rank; the names are those of a signal [batch, channels, length].
enum class Layout {
  ncl,           // contiguous
  nlc,           // the last two axes exchanged in memory: channels-last
  lcn,           // all axes reversed in memory
  gaps,          // contiguous order with odd gaps after every axis
  nlc_gaps,      // channels-last with gaps after channels and after length
  wide_rows,     // contiguous order, 16 to 31 elements free after every row: 16-byte vectors stay aligned
  every_second,  // stride 2 along the last axis
  reversed,      // contiguous, walked backwards along every axis
  one_batch,     // stride 0 along the first axis: outputs cannot have this
  one_channel,   // stride 0 along the last but one axis
  one_sample,    // stride 0 along the last axis
};

inline const char* name_of(Layout layout) {
  switch (layout) {
    case Layout::ncl:
      return "ncl";
    case Layout::nlc:
      return "nlc";
    case Layout::lcn:
      return "lcn";
    case Layout::gaps:
      return "gaps";
    case Layout::nlc_gaps:
      return "nlc_gaps";
    case Layout::wide_rows:
      return "wide_rows";
    case Layout::every_second:
      return "every_second";
    case Layout::reversed:
      return "reversed";
    case Layout::one_batch:
      return "one_batch";
    case Layout::one_channel:
      return "one_channel";
    case Layout::one_sample:
      return "one_sample";
  }
  return "?";
}

/// Strides of a tensor whose axes are, from the slowest to the fastest, `order`, with gap[i] elements left
/// free after order[i]'s run.
inline Dims strides_in_order(const Dims& shape, const std::vector<int>& order, const Dims& gaps = {}) {
  Dims strides(shape.size(), 0);
  std::int64_t step = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const auto axis = static_cast<std::size_t>(order[i]);
    strides[axis] = step;
    step *= shape[axis] > 0 ? shape[axis] : 1;
    if (!gaps.empty()) step += gaps[i];
  }
  return strides;
}

inline Dims strides_of(Layout layout, const Dims& shape) {
  const int rank = static_cast<int>(shape.size());
  std::vector<int> order, backwards;
  for (int a = 0; a < rank; ++a) {
    order.push_back(a);
    backwards.insert(backwards.begin(), a);
  }
  std::vector<int> channels_last = order;
  if (rank >= 2) {
    channels_last[static_cast<std::size_t>(rank) - 1] = rank - 2;
    channels_last[static_cast<std::size_t>(rank) - 2] = rank - 1;
  }
  Dims gaps;
  for (int a = 0; a < rank; ++a) gaps.push_back(2 * (rank - a) + 1);
  Dims strides = strides_in_order(shape, order);
  const auto zero = [&](int axis_from_the_end) {
    if (rank >= axis_from_the_end) strides[static_cast<std::size_t>(rank - axis_from_the_end)] = 0;
    return strides;
  };
  switch (layout) {
    case Layout::ncl:
      return strides;
    case Layout::nlc:
      return strides_in_order(shape, channels_last);
    case Layout::lcn:
      return strides_in_order(shape, backwards);
    case Layout::gaps:
      return strides_in_order(shape, order, gaps);
    case Layout::nlc_gaps:
      return strides_in_order(shape, channels_last, gaps);
    case Layout::wide_rows: {
      Dims after(shape.size(), 0);
      if (rank > 0) after.back() = 16 + (16 - shape.back() % 16) % 16;
      return strides_in_order(shape, order, after);
    }
    case Layout::every_second:
      for (std::int64_t& stride : strides) stride *= 2;
      return strides;
    case Layout::reversed:
      for (std::int64_t& stride : strides) stride = -stride;
      return strides;
    case Layout::one_batch:
      return zero(rank);
    case Layout::one_channel:
      return zero(2);
    case Layout::one_sample:
      return zero(1);
  }
  return strides;
}

inline std::ostream& operator<<(std::ostream& out, Layout layout) { return out << name_of(layout); }

/// "f32 [2, 3]" with strides and misalignment where they are not the plain ones.
inline std::string describe(DType dtype, const Dims& shape, const Dims& strides, std::int64_t misaligned) {
  std::string text = relayout::name_of(dtype) + (" " + to_string(shape));
  if (!strides.empty()) text += " strides " + to_string(strides);
  if (misaligned != 0) text += " misaligned by " + std::to_string(misaligned);
  return text;
}

}  // namespace relayout::cases
