// A copy box by box. A box is read along the input's fastest axes into a buffer in the cache, transposed on
// the way, converted there, and written along the output's fastest axes. Every input element is read once and
// every output element is written once; large outputs go past the caches.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/integer_math.hpp"
#include "host/cpu/copy/box_nest.hpp"
#include "host/cpu/copy/box_reader.hpp"
#include "host/cpu/copy/box_writer.hpp"
#include "host/cpu/copy/cast_rows.hpp"
#include "host/cpu/scratch.hpp"

namespace relayout::native {

/// In and Out: unsigned integers of the elements' sizes, which are moved as bits. Without a cast they are
/// one.
template <class In, class Out>
class BoxCopy {
 public:
  BoxCopy(const CopyParams& params, const CastRow& cast)
      : nest_(params, static_cast<bool>(cast)), cast_(cast), reader_(nest_), writer_(nest_) {}
  BoxCopy(const BoxCopy&) = delete;
  BoxCopy& operator=(const BoxCopy&) = delete;

  void run() const {
    const StridedLoop& boxes = nest_.boxes;
    parallel_ranges_in<Room>(boxes.total(), nest_.p.elements,
                             [&](std::int64_t begin, std::int64_t end, Room& room) {
                               Cursor cursor(boxes, begin), ahead(boxes, begin);
                               for (std::int64_t box = begin; box < end; ++box, cursor.next()) {
                                 if (box + 1 < end) ahead.next();
                                 copy(cursor, ahead, room);
                               }
                               if (nest_.streamed) finish_streams();
                             });
  }

 private:
  static constexpr std::int64_t kIn = sizeof(In);

  /// What a thread works with. A box that ends at a line may be up to twice as long.
  struct Room {
    alignas(kLineBytes) char memory[2 * kBoxRuns * kOddRunBytes + kLineBytes];
    typename BoxReader<In>::Lines lines;
    OffsetTable in_table, out_table;
  };

  void copy(const Cursor& box, const Cursor& ahead, Room& room) const {
    std::int64_t sides[kMaxRank] = {};
    nest_.set_sides(box, sides);
    if constexpr (std::is_same_v<In, Out>) {
      if (nest_.direct) return move(box, sides, ahead, room);
      // Short rows that become one piece are gathered there.
      if (nest_.rows_follow && !cast_ && !nest_.streamed && nest_.is_one_run(sides, nest_.p.out_strides))
        return reader_.read(reader_.at(box), sides, writer_.at(box), room.in_table, room.lines);
    }
    const Out* results = read(reader_.at(box), sides, room);
    StridedLoop next_rows;
    RowPrefetch prefetch = reader_.next_box(ahead, next_rows);
    writer_.write(box, sides, results, prefetch, room.out_table);
  }

  /// A box whose rows are rows of both operands, straight from one to the other. Where these follow each
  /// other closely the processor reads ahead by itself, and asking for the next box would only keep it
  /// waiting. Rows that lie apart are asked for one by one, and moved by as few instructions as there are, so
  /// that the processor sees several of them at a time.
  void move(const Cursor& box, const std::int64_t* sides, const Cursor& ahead, Room& room) const {
    const In* in = reader_.at(box);
    Out* out = writer_.at(box);
    const int last = nest_.last;
    room.in_table.prepare(last, sides, nest_.p.in_strides);
    room.out_table.prepare(last, sides, nest_.p.out_strides);
    const std::int64_t row = sides[last];
    if (nest_.rows_apart) {
      StridedLoop next_rows;
      RowPrefetch prefetch = reader_.next_box(ahead, next_rows);
      return for_each_piece(room.in_table, room.out_table, [&](OffsetPiece from, OffsetPiece to) {
        for (std::int64_t i = 0; i < from.count; ++i, prefetch.ask())
          std::memcpy(out + to.first + to.offsets[i], in + from.first + from.offsets[i],
                      static_cast<std::size_t>(row * kIn));
      });
    }
    if (nest_.p.in_strides[last] == 1) return move_rows(room.in_table, in, room.out_table, out, row);
    for_each_piece(room.in_table, room.out_table, [&](OffsetPiece from, OffsetPiece to) {
      for (std::int64_t i = 0; i < from.count; ++i)
        reader_.row()(in + from.first + from.offsets[i], out + to.first + to.offsets[i], row);
    });
  }

  /// The box in C order, converted.
  const Out* read(const In* in, const std::int64_t* sides, Room& room) const {
    if constexpr (sizeof(In) == 4 && sizeof(Out) == 2) {
      if (nest_.to_f16 != nullptr) {
        Out* results = reinterpret_cast<Out*>(room.memory);
        reader_.read_as_f16(in, sides, results);
        return results;
      }
    }
    In* const buffer = reinterpret_cast<In*>(room.memory);
    // What lies in memory in the order of the box is converted from there.
    const bool in_place = cast_ && nest_.is_one_run(sides, nest_.p.in_strides);
    if (!in_place) reader_.read(in, sides, buffer, room.in_table, room.lines);
    if constexpr (std::is_same_v<In, Out>) {
      if (!cast_) return buffer;
    }
    std::int64_t count = 1;
    for (int axis = 0; axis < nest_.p.rank; ++axis) count *= sides[axis];
    const std::int64_t bytes = divide_up(count * kIn, kLineBytes) * kLineBytes;
    Out* results = reinterpret_cast<Out*>(room.memory + bytes);
    cast_(in_place ? in : buffer, results, count);
    return results;
  }

  const BoxNest nest_;
  const CastRow& cast_;
  const BoxReader<In> reader_;
  const BoxWriter<Out> writer_;
};

}  // namespace relayout::native
