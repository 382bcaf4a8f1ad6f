// permute, copy and cast for any loop nest: long rows one by one, everything else in boxes. Where no nest has
// the axes of both sides, the two are walked side by side.
#include <algorithm>
#include <type_traits>

#include "host/cpu/convert.hpp"
#include "host/cpu/copy/box_copy.hpp"
#include "host/cpu/copy/cast_rows.hpp"
#include "host/cpu/copy/own_axes.hpp"
#include "host/cpu/copy/pitched_rows.hpp"
#include "host/cpu/copy/scaled_copy.hpp"
#include "host/cpu/copy/strided_casts.hpp"
#include "host/cpu/copy/wide_elements.hpp"
#include "host/cpu/native_table.hpp"
#include "host/cpu/parallel.hpp"
#include "host/cpu/prefetch.hpp"
#include "host/cpu/streaming.hpp"
#include "host/cpu/strided_loop.hpp"

namespace relayout::native {
namespace {

/// A row longer than this is split, so that a nest of one long axis has work for every thread.
constexpr std::int64_t kRowBytes = std::int64_t{1} << 18;
/// Rows of at least this size are copied straight from the input to the output.
constexpr std::int64_t kLongRowBytes = 1024;
/// So are casts of rows of so many elements and more where the input is one piece, and of so many bytes where
/// it is not: a box would only copy them once more.
constexpr std::int64_t kCastElements = 64, kCastRowBytes = 128;
/// And casts of shorter rows, of so many bytes of both sides: where the input is read in its order, and where
/// it is not and elements become longer, so that a box would have many more bytes to write than it reads.
constexpr std::int64_t kCastBytesInOrder = 320, kCastBytesAcross = 160;
/// Rows of fewer bytes are asked for ahead, of an input that is not one piece.
constexpr std::int64_t kAskedRowBytes = 4096;

bool is_one_piece(const CopyParams& p) {
  std::int64_t elements = 1;
  for (int axis = p.rank; axis-- > 0; elements *= p.extents[axis]) {
    if (p.in_strides[axis] != elements && p.extents[axis] != 1) return false;
  }
  return true;
}

/// How many rows before it is cast a row is asked for; 0 where none is.
std::int64_t casts_asked_ahead(const CopyParams& p, std::int64_t in_bytes) {
  const std::int64_t row = p.extents[p.rank - 1] * in_bytes;
  return row >= kAskedRowBytes || is_one_piece(p) ? 0 : rows_ahead(row);
}

/// Copies a contiguous row past the caches, through a buffer in the first-level cache.
template <class In, class Out>
void stream_converted(const CastRow& cast, const In* in, Out* out, std::int64_t count) {
  constexpr std::int64_t kLine = kLineBytes / static_cast<std::int64_t>(sizeof(Out)), kPart = 16 * kLine;
  alignas(kLineBytes) Out buffer[kPart + kLine];
  for (std::int64_t at = 0, part = 0; at < count; at += part) {
    part = std::min(count - at, kPart + bytes_to_line(out + at) / static_cast<std::int64_t>(sizeof(Out)));
    constexpr std::int64_t kIn = sizeof(In);
    ask_ahead(in + at, part * kIn, (count - at) * kIn);
    cast(in + at, buffer, part);
    store_row(buffer, out + at, part, true);
  }
}

/// Long rows go straight from the input to the output.
template <class In, class Out>
void copy_rows(const CopyParams& p, const CastRow& cast) {
  const int last = p.rank - 1;
  StridedLoop loop;
  for (int axis = 0; axis < last; ++axis) loop.push(p.extents[axis], p.in_strides[axis], p.out_strides[axis]);
  const std::int64_t piece = kRowBytes / static_cast<std::int64_t>(sizeof(Out));
  loop.push_boxes(p.extents[last], piece, 1, 1);
  const bool streamed = is_streamed(p);
  constexpr std::int64_t kIn = sizeof(In);
  const std::int64_t asked = cast && !streamed ? casts_asked_ahead(p, kIn) : 0;
  parallel_ranges(loop.total(), p.elements, [&](std::int64_t begin, std::int64_t end) {
    Cursor cursor(loop, begin), ahead(loop, begin + asked);
    for (std::int64_t i = begin; i < end; ++i, cursor.next()) {
      const In* in = static_cast<const In*>(p.in) + cursor.a();
      if (asked > 0 && i + asked < end) {
        ask_for(static_cast<const char*>(p.in) + ahead.a() * kIn, p.extents[last] * kIn);
        ahead.next();
      }
      Out* out = static_cast<Out*>(p.out) + cursor.b();
      const std::int64_t count = std::min(piece, p.extents[last] - cursor.index(last) * piece);
      if (!cast) {
        if constexpr (std::is_same_v<In, Out>) store_row(in, out, count, streamed);
      } else if (streamed) {
        stream_converted(cast, in, out, count);
      } else {
        cast(in, out, count);
      }
    }
    if (streamed) finish_streams();
  });
}

/// Runs of both sides, piece by piece: gathered, converted, scattered.
template <class In, class Out>
void copy_own_axes(const CopyParams& p, const CastRow& cast) {
  for_each_common_run(p, [&](const CommonRun& run) {
    const In* in = static_cast<const In*>(p.in) + run.in;
    Out* out = static_cast<Out*>(p.out) + run.out;
    if constexpr (std::is_same_v<In, Out>) {
      if (!cast) return convert_strided(in, run.in_step, out, run.out_step, run.count);
    }
    constexpr std::int64_t kPiece = 1024;
    In read[kPiece];
    Out written[kPiece];
    for (std::int64_t i = 0; i < run.count; i += kPiece) {
      const std::int64_t part = std::min(kPiece, run.count - i);
      convert_strided(in + i * run.in_step, run.in_step, read, 1, part);
      cast(read, written, part);
      convert_strided(written, 1, out + i * run.out_step, run.out_step, part);
    }
  });
}

bool is_in_long_rows(const CopyParams& p, bool casts, std::int64_t in_bytes, std::int64_t out_bytes) {
  const int last = p.rank - 1;
  const std::int64_t row = p.extents[last];
  if (p.in_strides[last] != 1 || p.out_strides[last] != 1) return false;
  if (row * out_bytes >= kLongRowBytes) return true;
  if (!casts) return false;
  if (row >= kCastElements && (row * in_bytes >= kCastRowBytes || is_one_piece(p))) return true;
  const std::int64_t bytes = row * (in_bytes + out_bytes);
  return bytes >= kCastBytesInOrder ? in_bytes < out_bytes || is_in_order(p)
                                    : bytes >= kCastBytesAcross && in_bytes < out_bytes && !is_in_order(p);
}

template <class In, class Out>
void copy_nest(const CopyParams& p, const CastRow& cast) {
  if (p.in_rank > 0) return copy_own_axes<In, Out>(p, cast);
  if (is_in_long_rows(p, static_cast<bool>(cast), sizeof(In), sizeof(Out)))
    return copy_rows<In, Out>(p, cast);
  if (cast && is_in_strided_rows(p, sizeof(In))) return cast_strided_rows<In, Out>(p, cast);
  if (!cast && is_in_pitched_rows(p)) return copy_pitched_rows(p);
  BoxCopy<In, Out>(p, cast).run();
}

template <class In>
void copy_from(const CopyParams& p, const CastRow& cast) {
  switch (size_of(p.out_type)) {
    case 1:
      return copy_nest<In, std::uint8_t>(p, cast);
    case 2:
      return copy_nest<In, std::uint16_t>(p, cast);
    case 4:
      return copy_nest<In, std::uint32_t>(p, cast);
    default:
      return copy_nest<In, std::uint64_t>(p, cast);
  }
}

void copy_any(const CopyParams& p, const CastRow& cast) {
  switch (size_of(p.in_type)) {
    case 1:
      return copy_from<std::uint8_t>(p, cast);
    case 2:
      return copy_from<std::uint16_t>(p, cast);
    case 4:
      return copy_from<std::uint32_t>(p, cast);
    case 16:
      return copy_nest<WidePair, WidePair>(p, cast);
    default:
      return copy_from<std::uint64_t>(p, cast);
  }
}

CopyParams read_slots(CopyParams p) {
  if (p.in_slot != nullptr) p.in = static_cast<const char*>(*p.in_slot) + p.in_slot_offset;
  if (p.out_slot != nullptr) p.out = static_cast<char*>(*p.out_slot) + p.out_slot_offset;
  p.in_slot = nullptr;
  p.out_slot = nullptr;
  return p;
}

/// A nest without axes has one element.
void give_an_axis(CopyParams& p) {
  if (p.rank > 0) return;
  p.rank = 1;
  p.extents[0] = 1;
  p.in_strides[0] = p.out_strides[0] = 1;
}

}  // namespace

void copy(const LaunchContext&, const CopyKernelParams& planned) {
  CopyParams params = read_slots(std::get<CopyParams>(planned));
  if (params.elements == 0) return;
  if (params.scaled) return scaled_copy(params);
  give_an_axis(params);
  if (params.in_type != params.out_type)
    return copy_any(params, CastRow(params.in_type, params.out_type, params.cast));
  copy_any(params.in_rank > 0 ? params : in_wide_elements(params), CastRow());
}

}  // namespace relayout::native
