// permute, copy and cast for any loop nest, box by box. A box is read along the input's fastest axes into a
// buffer in the cache, transposed and converted on the way, and written along the output's fastest axes.
// Every input element is read once and every output element is written once; large outputs go past the
// caches. Where no nest has the axes of both sides, the two are walked side by side.
#include <algorithm>
#include <type_traits>

#include "core/integer_math.hpp"
#include "host/cpu/convert.hpp"
#include "host/cpu/copy/cast_copy.hpp"
#include "host/cpu/copy/copy_box.hpp"
#include "host/cpu/copy/dispatch.hpp"
#include "host/cpu/copy/own_axes.hpp"
#include "host/cpu/copy/plane.hpp"
#include "host/cpu/copy/scaled_copy.hpp"
#include "host/cpu/native_table.hpp"
#include "host/cpu/parallel.hpp"
#include "host/cpu/prefetch.hpp"
#include "host/cpu/streaming.hpp"
#include "host/cpu/strided_loop.hpp"

namespace relayout::native {
namespace {

/// Bytes of the runs that a box writes. Two lines are enough where every row begins with a line. Elsewhere
/// the ends of a run are parts of lines, which cost more than whole ones, so runs are longer.
constexpr std::int64_t kRunBytes = 128, kOddRunBytes = 512;
/// The most runs of a box, so that it nearly fits into the first-level cache.
constexpr std::int64_t kBoxRuns = 64;
/// A row longer than this is split, so that a nest of one long axis has work for every thread.
constexpr std::int64_t kRowBytes = std::int64_t{1} << 18;
/// Rows of at least this size are copied straight from the input to the output.
constexpr std::int64_t kLongRowBytes = 1024;

template <class Out>
bool is_streamed(const CopyParams& p) {
  return p.out_strides[p.rank - 1] == 1 &&
         p.elements * static_cast<std::int64_t>(sizeof(Out)) > kStreamedBytes;
}

template <class In, class Out>
class BoxCopy {
 public:
  explicit BoxCopy(const CopyParams& params)
      : p_(params), last_(params.rank - 1), streamed_(is_streamed<Out>(params)) {
    const bool aligned = rows_are_aligned();
    const std::int64_t run = aligned ? kRunBytes : kOddRunBytes;
    box_ = choose_box(p_, run / kOut, most_elements(run));
    unaligned_ = streamed_ && !aligned && box_.sides[last_] < p_.extents[last_];
    for (int axis = 0; axis < p_.rank; ++axis) order_[axis] = axis;
    // The next box is the one that continues the input of this box.
    std::stable_sort(order_, order_ + p_.rank, [this](int a, int b) {
      return std::abs(p_.in_strides[a]) > std::abs(p_.in_strides[b]);
    });
    for (int i = 0; i < p_.rank; ++i) {
      const int axis = order_[i];
      const std::int64_t side = box_.sides[axis];
      place_[axis] = i;
      boxes_.push_boxes(p_.extents[axis], side, p_.in_strides[axis], p_.out_strides[axis]);
    }
  }

  void run() const {
    parallel_ranges(boxes_.total(), p_.elements, [this](std::int64_t begin, std::int64_t end) {
      alignas(kLineBytes) Out buffer[2 * most_elements(kOddRunBytes)];
      Cursor cursor(boxes_, begin), ahead(boxes_, begin);
      for (std::int64_t box = begin; box < end; ++box, cursor.next()) {
        std::int64_t sides[kMaxRank] = {};
        set_sides(cursor, sides);
        read(cursor.a(), sides, buffer);
        if (box + 1 < end) ahead.next();
        write(cursor, sides, buffer, ahead);
      }
      if (streamed_) finish_streams();
    });
  }

 private:
  static constexpr std::int64_t kIn = sizeof(In), kOut = sizeof(Out);
  static constexpr std::int64_t kLineElements = std::max<std::int64_t>(1, kLineBytes / kOut);

  static constexpr std::int64_t most_elements(std::int64_t run) {
    return kBoxRuns * std::max<std::int64_t>(run, 256) / kOut;
  }
  bool rows_are_aligned() const {
    bool aligned = bytes_to_line(p_.out) == 0;
    for (int axis = 0; axis < last_; ++axis) aligned &= p_.out_strides[axis] * kOut % kLineBytes == 0;
    return aligned;
  }

  /// The extents of the box at the cursor: boxes at the ends are shorter. Where the ends of boxes follow
  /// lines of memory, a box is read up to a line further along the output's axis.
  void set_sides(const Cursor& cursor, std::int64_t* sides) const {
    for (int axis = 0; axis < p_.rank; ++axis) {
      const std::int64_t side = box_.sides[axis] + (unaligned_ && axis == last_ ? kLineElements : 0);
      sides[axis] = std::min(side, p_.extents[axis] - cursor.index(place_[axis]) * box_.sides[axis]);
    }
  }

  void read(std::int64_t from, const std::int64_t* sides, Out* buffer) const {
    const In* in = static_cast<const In*>(p_.in) + from;
    const int fast = box_.in_axis;
    StridedLoop loop;
    std::int64_t pitch = 1, fast_pitch = 1;
    std::int64_t pitches[kMaxRank];
    for (int axis = last_; axis >= 0; --axis) {
      if (axis == fast) fast_pitch = pitch;
      pitches[axis] = pitch;
      pitch *= sides[axis];
    }
    for (int axis = 0; axis < last_; ++axis) {
      if (axis != fast && sides[axis] > 1) loop.push(sides[axis], p_.in_strides[axis], pitches[axis]);
    }
    const PlaneReader<In, Out> read_plane(p_.in_strides[fast], p_.in_strides[last_]);
    Cursor cursor(loop, 0);
    for (std::int64_t i = loop.total(); i-- > 0; cursor.next()) {
      if (fast == last_) {
        convert_strided(in + cursor.a(), p_.in_strides[fast], buffer + cursor.b(), 1, sides[fast]);
      } else {
        read_plane(in + cursor.a(), buffer + cursor.b(), fast_pitch, sides[fast], sides[last_]);
      }
    }
  }

  /// How many elements of a row belong to the box before it: those up to the first line of the output.
  std::int64_t elements_to_line(const Out* row) const { return divide_up(bytes_to_line(row), kOut); }

  void write(const Cursor& box, const std::int64_t* sides, const Out* buffer, const Cursor& ahead) const {
    Out* out = static_cast<Out*>(p_.out) + box.b();
    if (p_.out_strides[last_] != 1) return scatter(out, sides, buffer);
    // Neighbouring axes whose rows follow each other in memory are one run.
    int axis = last_;
    std::int64_t run = 1;
    for (; axis >= 0 && p_.out_strides[axis] == run; --axis) run *= sides[axis];
    const std::int64_t rows = axis < 0 ? 1 : sides[axis], row_step = axis < 0 ? 0 : p_.out_strides[axis];
    StridedLoop loop;
    std::int64_t pitches[kMaxRank], pitch = run;
    for (int k = axis; k >= 0; pitch *= sides[k--]) pitches[k] = pitch;
    for (int k = 0; k < axis; ++k) {
      if (sides[k] > 1) loop.push(sides[k], p_.out_strides[k], pitches[k]);
    }
    const std::int64_t at = unaligned_ ? box.index(place_[last_]) * box_.sides[last_] : 0;
    const bool from_first = !unaligned_ || at == 0,
               to_last = !unaligned_ || at + box_.sides[last_] >= p_.extents[last_];

    StridedLoop next_rows;
    RowPrefetch prefetch = next_box(ahead, next_rows);
    const std::int64_t total = loop.total() * rows, wanted = prefetch.rows();
    std::int64_t due = 0;
    Cursor cursor(loop, 0);
    for (std::int64_t i = loop.total(); i-- > 0; cursor.next()) {
      Out* row_out = out + cursor.a();
      const Out* row = buffer + cursor.b();
      for (std::int64_t r = 0; r < rows; ++r, row_out += row_step, row += run) {
        const std::int64_t first = from_first ? 0 : std::min(run, elements_to_line(row_out));
        const std::int64_t end =
            to_last ? run : std::min(run, box_.sides[last_] + elements_to_line(row_out + box_.sides[last_]));
        store_row(row + first, row_out + first, end - first, streamed_);
        for (due += wanted; due >= total; due -= total) prefetch.ask();
      }
    }
  }

  RowPrefetch next_box(const Cursor& ahead, StridedLoop& rows) const {
    const int fast = box_.in_axis;
    std::int64_t sides[kMaxRank] = {};
    set_sides(ahead, sides);
    for (int axis = 0; axis < p_.rank; ++axis) {
      if (axis != fast && sides[axis] > 1 && p_.in_strides[axis] != 0)
        rows.push(sides[axis], p_.in_strides[axis] * kIn, 0);
    }
    const In* first = static_cast<const In*>(p_.in) + ahead.a();
    if (p_.in_strides[fast] < 0) first -= sides[fast] - 1;
    return {reinterpret_cast<const char*>(first), rows, sides[fast] * kIn};
  }

  void scatter(Out* out, const std::int64_t* sides, const Out* buffer) const {
    StridedLoop loop;
    for (int axis = 0; axis < last_; ++axis) loop.push(sides[axis], p_.out_strides[axis], 0);
    Cursor cursor(loop, 0);
    for (std::int64_t i = loop.total(); i-- > 0; cursor.next(), buffer += sides[last_])
      convert_strided(buffer, 1, out + cursor.a(), p_.out_strides[last_], sides[last_]);
  }

  const CopyParams& p_;
  int last_;
  CopyBox box_;
  bool streamed_, unaligned_ = false;
  int order_[kMaxRank], place_[kMaxRank];
  StridedLoop boxes_;
};

/// Copies a contiguous row past the caches, through a buffer in the first-level cache.
template <class In, class Out>
void stream_converted(const In* in, Out* out, std::int64_t count) {
  constexpr std::int64_t kLine = kLineBytes / static_cast<std::int64_t>(sizeof(Out)), kPart = 16 * kLine;
  alignas(kLineBytes) Out buffer[kPart + kLine];
  for (std::int64_t at = 0, part = 0; at < count; at += part) {
    part = std::min(count - at, kPart + bytes_to_line(out + at) / static_cast<std::int64_t>(sizeof(Out)));
    constexpr std::int64_t kIn = sizeof(In);
    ask_ahead(in + at, part * kIn, (count - at) * kIn);
    convert_row(in + at, buffer, part);
    store_row(buffer, out + at, part, true);
  }
}

/// Long rows go straight from the input to the output.
template <class In, class Out>
void copy_rows(const CopyParams& p) {
  const int last = p.rank - 1;
  StridedLoop loop;
  for (int axis = 0; axis < last; ++axis) loop.push(p.extents[axis], p.in_strides[axis], p.out_strides[axis]);
  const std::int64_t piece = kRowBytes / static_cast<std::int64_t>(sizeof(Out));
  loop.push_boxes(p.extents[last], piece, 1, 1);
  const bool streamed = is_streamed<Out>(p);
  parallel_ranges(loop.total(), p.elements, [&](std::int64_t begin, std::int64_t end) {
    Cursor cursor(loop, begin);
    for (std::int64_t i = begin; i < end; ++i, cursor.next()) {
      const In* in = static_cast<const In*>(p.in) + cursor.a();
      Out* out = static_cast<Out*>(p.out) + cursor.b();
      const std::int64_t count = std::min(piece, p.extents[last] - cursor.index(last) * piece);
      if constexpr (std::is_same_v<In, Out>) {
        store_row(in, out, count, streamed);
      } else {
        streamed ? stream_converted(in, out, count) : convert_row(in, out, count);
      }
    }
    if (streamed) finish_streams();
  });
}

template <class In, class Out>
void copy_own_axes(const CopyParams& p) {
  for_each_common_run(p, [&p](const CommonRun& run) {
    convert_strided(static_cast<const In*>(p.in) + run.in, run.in_step, static_cast<Out*>(p.out) + run.out,
                    run.out_step, run.count);
  });
}

template <class In, class Out>
void copy_nest(const CopyParams& p) {
  if (p.in_rank > 0) return copy_own_axes<In, Out>(p);
  if (p.rank == 0) {
    *static_cast<Out*>(p.out) = convert<Out>(*static_cast<const In*>(p.in));
    return;
  }
  const int last = p.rank - 1;
  if (p.in_strides[last] == 1 && p.out_strides[last] == 1 &&
      p.extents[last] * static_cast<std::int64_t>(sizeof(Out)) >= kLongRowBytes)
    return copy_rows<In, Out>(p);
  BoxCopy<In, Out>(p).run();
}

CopyParams read_slots(CopyParams p) {
  if (p.in_slot != nullptr) p.in = static_cast<const char*>(*p.in_slot) + p.in_slot_offset;
  if (p.out_slot != nullptr) p.out = static_cast<char*>(*p.out_slot) + p.out_slot_offset;
  p.in_slot = nullptr;
  p.out_slot = nullptr;
  return p;
}

}  // namespace

void copy(const LaunchContext& context, const CopyParams& params) {
  if (params.elements == 0) return;
  if (params.in_slot != nullptr || params.out_slot != nullptr) return copy(context, read_slots(params));
  if (params.scaled) return scaled_copy(params);
  if (params.generic_cast) return cast_copy(params);
  with_types(params.in_type, params.out_type, [&params](auto in, auto out) {
    copy_nest<typename decltype(in)::type, typename decltype(out)::type>(params);
  });
}

}  // namespace relayout::native
