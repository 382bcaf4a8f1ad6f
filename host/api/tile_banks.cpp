#include "host/api/tile_banks.hpp"

#include <algorithm>

#include "host/plan/tile_rules.hpp"

namespace relayout {
namespace {

using plan::kNoAddress;
using plan::SharedAccess;
using plan::SharedVisitor;

constexpr std::int64_t kSectorBytes = 32;  // skewed runs start at a boundary of these

struct Position {
  std::int64_t offset = 0, column = 0, row = 0;
  bool inside = true;
};

class Trace {
 public:
  Trace(const TileParams& p, int warp_size, const SharedVisitor& visit)
      : p_(p),
        warp_(warp_size),
        visit_(visit),
        in_size_(static_cast<std::int64_t>(size_of(p.in_type))),
        size_(static_cast<std::int64_t>(size_of(p.out_type))),
        read_(16 / in_size_),
        vector_(16 / size_),
        per_thread_(plan::kTileBytesPerThread / std::max(in_size_, size_)) {
    for (int c = 0; c < 2; ++c) limit_[c] = std::min<std::int64_t>(p.cut[c].tile, p.cut[c].extent);
    const auto cut = [&](std::int32_t which, std::uint32_t step, std::uint32_t elements) {
      return which < 0 ? std::int64_t{elements} : limit_[which] * step;
    };
    read_elements_ = cut(p.read_cut, p.read_cut_step, p.read_elements);
    write_elements_ = cut(p.write_cut, p.write_cut_step, p.write_elements);
  }

  void fill() const {
    const std::int64_t piece = std::min(read_, vector_);
    for_each_warp(per_thread_ / read_, [&](std::int64_t first_item) {
      for (std::int64_t part = 0; part < read_ / piece; ++part) {
        visit_lanes(SharedAccess::write, first_item, static_cast<int>(piece * size_), [&](std::int64_t item) {
          const std::int64_t rest = item / p_.read_vectors.value;
          const std::int64_t first = item % p_.read_vectors.value * read_;
          if (rest >= p_.read_rows || first >= read_elements_) return kNoAddress;
          const Position position = walk(p_.read_rest, rest);
          return position.inside ? row_begin(position.row) + first * size_ + part * 16 : kNoAddress;
        });
      }
    });
  }

  void drain() const {
    switch (p_.assembly) {
      case Assembly::elements:
        return drain_vectors(static_cast<int>(vector_), static_cast<int>(size_));
      case Assembly::words:
        return drain_vectors(static_cast<int>(vector_), 4);
      case Assembly::vectors:
        return drain_vectors(1, 16);
      case Assembly::mixed:
        return drain_mixed();
      case Assembly::skewed:
        return drain_skewed();
    }
  }

 private:
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

  Position walk(const TileAxes& axes, std::int64_t index) const {
    Position position;
    std::int64_t limited = 0;
    for (int k = 0; k < axes.count; ++k) {
      const TileAxis& axis = axes.axes[k];
      const std::int64_t i = k + 1 < axes.count ? index % axis.extent.value : index;
      index /= axis.extent.value;
      position.offset += i * axis.offset;
      position.column += i * axis.column;
      position.row += i * axis.row;
      limited += i * axis.limited;
    }
    position.inside = (limited & 0xffff) < limit_[0] && limited >> 16 < limit_[1];
    return position;
  }

  std::int64_t row_begin(std::int64_t row) const {
    const bool in_order = p_.assembly == Assembly::mixed || p_.assembly == Assembly::vectors;
    const std::int64_t n = in_order ? 1 : vector_;
    return (row % n * p_.rows_by_vector + row / n) * p_.pitch;
  }

  /// What a lane writes: a vector of a run; `first` < 0: nothing.
  struct Item {
    std::int64_t first = -1;
    Position rest;
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
          const Position run = walk(p_.write_run, item.first);
          return row_begin(item.rest.row + run.row) + (item.rest.column + run.column) * size_ +
                 i * std::int64_t{p_.element_step};
        });
      }
    });
  }

  std::int64_t out_address(const Item& item, std::int64_t element) const {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p_.out)) +
           (item.rest.offset + element) * size_;
  }

  /// Lanes with a whole aligned vector first, then the others element by element.
  void drain_mixed() const {
    for_each_warp(turns(), [&](std::int64_t first_item) {
      for (const bool whole : {true, false}) {
        for (std::int64_t i = 0; i < vector_; ++i) {
          visit_lanes(SharedAccess::read, first_item, static_cast<int>(size_), [&](std::int64_t number) {
            const Item item = item_of(number);
            if (item.first < 0 || item.first + i >= write_elements_) return kNoAddress;
            const bool aligned = out_address(item, item.first) % 16 == 0 &&
                                 item.first + vector_ <= write_elements_ &&
                                 item.first % p_.mixed_plane + vector_ <= p_.mixed_plane;
            if (aligned != whole) return kNoAddress;
            return item.rest.row + walk(p_.write_run, item.first + i).row;
          });
        }
      }
    });
  }

  std::int64_t skewed_place(const Position& rest, std::int64_t element) const {
    return row_begin(rest.row + element * p_.element_row) +
           (rest.column + element * p_.element_column) * size_;
  }
  /// Elements of a run in front of its first boundary.
  std::int64_t skew_of(const Item& item) const {
    const std::int64_t boundary = kSectorBytes / size_, start = out_address(item, 0) / size_;
    return (boundary - start % boundary) % boundary;
  }

  void drain_skewed() const {
    for_each_warp(turns(), [&](std::int64_t first_item) {
      for (const bool whole : {false, true}) {  // the runs' ends first
        for (std::int64_t i = 0; i < vector_; ++i) {
          visit_lanes(SharedAccess::read, first_item, static_cast<int>(size_), [&](std::int64_t number) {
            const Item item = item_of(number);
            if (item.first < 0) return kNoAddress;
            const std::int64_t first = item.first + skew_of(item);
            if (first + i >= write_elements_ || (first + vector_ <= write_elements_) != whole)
              return kNoAddress;
            return skewed_place(item.rest, first + i);
          });
        }
      }
    });
    const std::int64_t boundary = kSectorBytes / size_, heads = p_.write_rows.value * boundary;
    for_each_warp((heads + p_.threads - 1) / p_.threads, [&](std::int64_t first_item) {
      visit_lanes(SharedAccess::read, first_item, static_cast<int>(size_), [&](std::int64_t number) {
        if (number >= heads) return kNoAddress;
        Item item;
        item.rest = walk(p_.write_rest, number / boundary);
        const std::int64_t element = number % boundary;
        const bool exists = item.rest.inside && element < skew_of(item) && element < write_elements_;
        return exists ? skewed_place(item.rest, element) : kNoAddress;
      });
    });
  }

  const TileParams& p_;
  int warp_;
  const SharedVisitor& visit_;
  std::int64_t in_size_, size_, read_, vector_, per_thread_;
  std::int64_t limit_[2] = {}, read_elements_ = 0, write_elements_ = 0;
};

}  // namespace

void visit_shared_accesses(const TileParams& params, int warp_size, const plan::SharedVisitor& visit) {
  const Trace trace(params, warp_size, visit);
  trace.fill();
  trace.drain();
}

plan::BankReport count_conflicts(const TileParams& params, const DeviceProperties& device) {
  const plan::BankModel model = plan::bank_model(device);
  plan::BankReport report;
  visit_shared_accesses(params, model.lanes, counting(model, report));
  return report;
}

}  // namespace relayout
