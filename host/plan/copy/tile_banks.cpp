#include "host/plan/copy/tile_banks.hpp"

#include <algorithm>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"

namespace relayout {
namespace {

using plan::kNoAddress;
using plan::SharedAccess;
using plan::SharedVisitor;

struct TileCoord {
  std::int64_t offset = 0, column = 0, row = 0;
  bool inside = true;
};

class TileAccesses {
 public:
  TileAccesses(const TileParams& p, int warp_size, const SharedVisitor& visit)
      : p_(p),
        warp_(warp_size),
        visit_(visit),
        in_size_(bytes_of(p.in_type)),
        size_(bytes_of(p.out_type)),
        held_(tile_element_bytes(p.assembly, static_cast<int>(in_size_), static_cast<int>(size_))),
        read_(16 / in_size_),
        vector_(16 / size_),
        group_(tile_row_group(p.assembly, static_cast<int>(size_))),
        blocks_(tile_row_blocks(p.assembly, static_cast<int>(size_))),
        per_thread_(kTileBytesPerThread / std::max(in_size_, size_)) {
    for (int c = 0; c < 2; ++c)
      limit_[c] = p.tail_axes[c].tiles.value == 1 ? p.tail_axes[c].last : p.tail_axes[c].tile;
    const auto cut = [&](std::int32_t which, std::uint32_t step, std::uint32_t elements) {
      return which < 0 ? std::int64_t{elements} : limit_[which] * step;
    };
    read_elements_ = cut(p.read_tail, p.read_tail_step, p.read_elements);
    write_elements_ = cut(p.write_tail, p.write_tail_step, p.write_elements);
  }

  void fill() const {
    if (group_ > 1) return fill_groups();
    if (p_.unaligned && p_.in_type == p_.out_type && size_ >= 4) return fill_words();
    const std::int64_t piece = std::min(read_, 16 / held_), pieces = read_ / piece;
    const bool rotates = tile_rotates_pieces(in_size_, held_);
    for_each_warp(per_thread_ / read_, [&](std::int64_t first_item) {
      for (std::int64_t part = 0; part < pieces; ++part) {
        visit_lanes(SharedAccess::write, first_item, static_cast<int>(piece * held_), [&](std::int64_t item) {
          const std::int64_t rest = item / p_.read_vectors.value;
          const std::int64_t first = item % p_.read_vectors.value * read_;
          if (rest >= p_.read_rows || first >= read_elements_) return kNoAddress;
          const TileCoord position = walk(p_.read_rest, rest);
          if (!position.inside) return kNoAddress;
          const std::int64_t target = place_of_row(position) + first * held_;
          const std::int64_t stored =
              rotates ? part + tile_first_piece(item % p_.threads, target / 16, pieces) : part;
          return target + stored % pieces * 16;
        });
      }
    });
  }

  void drain() const {
    switch (p_.assembly) {
      case Assembly::elements:
        return drain_vectors(static_cast<int>(vector_), static_cast<int>(held_));
      case Assembly::words:
        return drain_vectors(static_cast<int>(vector_), 4);
      case Assembly::vectors:
        return drain_vectors(1, static_cast<int>(vector_ * held_));
      case Assembly::scattered:
        return drain_scattered();
      case Assembly::unaligned_rows:
      case Assembly::unaligned_groups:
      case Assembly::unaligned_columns:
        return drain_unaligned();
    }
  }

 private:
  /// Words of rows that start anywhere, each to its place: two vectors a lane, one after the other.
  void fill_words() const {
    const std::int64_t bytes = read_elements_ * size_;
    const std::int64_t turns = divide_up(p_.read_items, p_.threads);
    for_each_warp(turns, [&](std::int64_t first_item) {
      for (std::int64_t k = 0; k < 4; ++k) {
        visit_lanes(SharedAccess::write, first_item, 4, [&](std::int64_t item) {
          const std::int64_t number = item / p_.read_vectors.value, vector = item % p_.read_vectors.value;
          if (number >= p_.read_rows) return kNoAddress;
          const TileCoord row = walk(p_.read_rest, number);
          const std::int64_t start =
              static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p_.in)) + row.offset * in_size_;
          const std::int64_t turn = item % p_.threads / 8;
          const std::int64_t at = vector * 16 - (start & 15) + (k + turn) % 4 * 4;
          return row.inside && at >= 0 && at < bytes ? place_of_row(row) + at : kNoAddress;
        });
      }
    });
  }

  /// Words of several rows, up to 16 bytes at a time.
  void fill_groups() const {
    const std::int64_t piece = std::min<std::int64_t>(read_, 4);
    for_each_warp(per_thread_ / (read_ * group_), [&](std::int64_t first_item) {
      for (std::int64_t column = 0; column < read_; column += piece) {
        visit_lanes(SharedAccess::write, first_item, static_cast<int>(piece * 4), [&](std::int64_t item) {
          const std::int64_t row = item / p_.read_vectors.value;
          const std::int64_t first = item % p_.read_vectors.value * read_;
          if (row * group_ >= p_.read_rows || first >= read_elements_) return kNoAddress;
          return row_begin(row) + column_begin(first + column);
        });
      }
    });
  }

  /// Turn by turn, warp by warp: the number of the first lane's item.
  template <class Function>
  void for_each_warp(std::int64_t turns, const Function& function) const {
    for (std::int64_t turn = 0; turn < turns; ++turn)
      for (std::int64_t warp = 0; warp < p_.threads; warp += warp_) function(turn * p_.threads + warp);
  }

  template <class Function>
  void visit_lanes(SharedAccess access, std::int64_t first_item, int bytes, const Function& address) const {
    std::vector<std::int64_t> addresses;
    for (int lane = 0; lane < warp_; ++lane) addresses.push_back(address(first_item + lane));
    const auto takes_part = [](std::int64_t one) { return one != kNoAddress; };
    if (std::any_of(addresses.begin(), addresses.end(), takes_part)) visit_(access, addresses, bytes);
  }

  TileCoord walk(const TileAxes& axes, std::int64_t index) const {
    // As the kernel does it, by quotients and steps modulo 2^32.
    auto quotient = static_cast<std::uint32_t>(index);
    std::uint32_t offset = 0, column = 0, row = 0, tail_index = 0;
    for (int k = 0; k < axes.count; ++k) {
      const TileAxis& axis = axes.axes[k];
      offset += quotient * axis.offset;
      column += quotient * axis.column;
      row += quotient * axis.row;
      tail_index += quotient * axis.tail_index;
      quotient /= axis.extent.value;
    }
    TileCoord position;
    position.offset = static_cast<std::int32_t>(offset);
    position.column = column;
    position.row = row;
    position.inside = (tail_index & 0xffff) < limit_[0] && tail_index >> 16 < limit_[1];
    return position;
  }

  std::int64_t place_of_row(const TileCoord& row) const {
    return p_.assembly == Assembly::scattered ? scattered_row(row.row) + row.column : row_begin(row.row);
  }
  std::int64_t scattered_row(std::int64_t row) const {
    return tile_row_begin<std::int64_t>(row, 1 << p_.scattered_shift, p_.rows_per_block, p_.pitch);
  }
  std::int64_t row_begin(std::int64_t row) const {
    return tile_row_begin<std::int64_t>(row, blocks_, p_.rows_per_block, p_.pitch);
  }
  std::int64_t column_begin(std::int64_t column) const { return tile_column_begin(column, group_, size_); }

  /// What a lane writes: a vector of a run; `first` < 0: nothing.
  struct Item {
    std::int64_t first = -1;
    TileCoord rest;
  };
  Item item_of(std::int64_t number) const {
    const std::int64_t width = p_.write_width.value, rows = p_.write_rows.value;
    const std::int64_t vector = number / width / rows * width + number % width;
    Item item;
    if (vector >= p_.write_vectors) return item;
    item.rest = walk(p_.write_rest, number / width % rows);
    if (item.rest.inside) item.first = vector * vector_;
    return item;
  }
  std::int64_t turns() const {
    const std::int64_t group = p_.assembly == Assembly::words ? 4 / size_ : 1;
    return (per_thread_ + vector_ * group - 1) / (vector_ * group);
  }

  /// `reads` accesses a lane, element_step apart.
  void drain_vectors(int reads, int bytes) const {
    for_each_warp(turns(), [&](std::int64_t first_item) {
      for (int i = 0; i < reads; ++i) {
        visit_lanes(SharedAccess::read, first_item, bytes, [&](std::int64_t number) {
          const Item item = item_of(number);
          if (item.first < 0 || item.first >= write_elements_) return kNoAddress;
          const TileCoord run = walk(p_.write_run, item.first);
          return row_begin(item.rest.row + run.row) + (item.rest.column + run.column) * held_ +
                 i * std::int64_t{p_.element_step};
        });
      }
    });
  }

  std::int64_t out_address(const Item& item, std::int64_t element) const {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p_.out)) +
           (item.rest.offset + element) * size_;
  }

  /// Element by element. Beside those of vectors that a run fills in part, lanes read what is not stored.
  void drain_scattered() const {
    const std::int64_t turns = divide_up(p_.write_items, p_.threads);
    for_each_warp(turns, [&](std::int64_t first_item) {
      for (std::int64_t i = 0; i < vector_; ++i) {
        visit_lanes(SharedAccess::read, first_item, static_cast<int>(held_), [&](std::int64_t number) {
          const Item item = item_of(number);
          if (number >= p_.write_items || item.first < 0) return kNoAddress;
          const std::int64_t first = item.first - out_address(item, 0) / size_ % vector_;
          if (first + i < 0 || first + i >= write_elements_) return kNoAddress;
          return item.rest.row + place_of_element(first, i);
        });
      }
    });
  }
  /// Assembly::scattered: where a run's element number first + i lies.
  std::int64_t place_of_element(std::int64_t first, std::int64_t i) const {
    const std::int64_t periods = std::max<std::int64_t>(first, 0) / p_.period.value;
    const TileCoord position = walk(p_.write_run, first + i - periods * p_.period.value);
    return periods * p_.period_step + scattered_row(position.row) + position.column * held_;
  }

  /// Elements of a run in front of its first boundary.
  std::int64_t misalignment_of(const Item& item) const {
    const std::int64_t boundary = kTileRunAlignment / size_, start = out_address(item, 0) / size_;
    return (boundary - start % boundary) % boundary;
  }
  /// The byte of a run's element, or of the word that holds it.
  std::int64_t unaligned_origin(const TileCoord& rest, std::int64_t element) const {
    if (p_.assembly == Assembly::unaligned_columns)
      return row_begin(rest.row) + (rest.column + element * p_.element_column) * size_;
    return row_begin((rest.row + element) / group_) + column_begin(rest.column);
  }

  /// Lanes with a run's end first, element by element, then those with whole vectors, word by word.
  void drain_unaligned() const {
    const std::int64_t words = vector_ / group_;
    for_each_warp(turns(), [&](std::int64_t first_item) {
      for (std::int64_t i = 0; i < vector_; ++i) drain_turn(first_item, false, i, size_);
      for (std::int64_t word = 0; word < words + (group_ > 1 ? 1 : 0); ++word)
        drain_turn(first_item, true, word * group_, size_ * group_);
    });
    const std::int64_t boundary = kTileRunAlignment / size_, heads = p_.write_rows.value * boundary;
    for_each_warp(divide_up(heads, p_.threads), [&](std::int64_t first_item) {
      visit_lanes(SharedAccess::read, first_item, static_cast<int>(size_), [&](std::int64_t number) {
        if (number >= heads) return kNoAddress;
        Item item;
        item.rest = walk(p_.write_rest, number / boundary);
        const std::int64_t element = number % boundary;
        const bool exists = item.rest.inside && element < misalignment_of(item) && element < write_elements_;
        return exists ? unaligned_origin(item.rest, element) + part_of(item.rest, element) : kNoAddress;
      });
    });
  }
  /// The byte of an element in its word.
  std::int64_t part_of(const TileCoord& rest, std::int64_t element) const {
    return (rest.row + element) % group_ * size_;
  }
  /// What lies `at` elements behind the first one of each vector that is `whole`, or is not.
  void drain_turn(std::int64_t first_item, bool whole, std::int64_t at, std::int64_t bytes) const {
    visit_lanes(SharedAccess::read, first_item, static_cast<int>(bytes), [&](std::int64_t number) {
      const Item item = item_of(number);
      if (item.first < 0) return kNoAddress;
      const std::int64_t first = item.first + misalignment_of(item);
      if ((first + vector_ <= write_elements_) != whole) return kNoAddress;
      if (!whole) {
        if (first + at >= write_elements_) return kNoAddress;
        return unaligned_origin(item.rest, first + at) + part_of(item.rest, first + at);
      }
      // The word behind the last is read where the first is not read whole.
      if (at == vector_ && part_of(item.rest, first) == 0) return kNoAddress;
      return unaligned_origin(item.rest, first + at);
    });
  }

  const TileParams& p_;
  int warp_;
  const SharedVisitor& visit_;
  std::int64_t in_size_, size_, held_, read_, vector_, group_, blocks_, per_thread_;
  std::int64_t limit_[2] = {}, read_elements_ = 0, write_elements_ = 0;
};

}  // namespace

void visit_shared_accesses(const TileParams& params, int warp_size, const plan::SharedVisitor& visit) {
  const TileAccesses accesses(params, warp_size, visit);
  accesses.fill();
  accesses.drain();
}

plan::BankReport count_conflicts(const TileParams& params, const DeviceProperties& device) {
  const plan::BankModel model = plan::bank_model(device);
  plan::BankReport report;
  visit_shared_accesses(params, model.lanes, counting(model, report));
  return report;
}

}  // namespace relayout
