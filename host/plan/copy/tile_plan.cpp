#include "host/plan/copy/tile_plan.hpp"

#include <algorithm>

#include "core/tile_layout.hpp"
#include "host/plan/copy/tile_builder.hpp"
#include "host/plan/device_rates.hpp"

namespace relayout::plan {
namespace {

constexpr int kMaxBoxes = 16;

/// Boxes for runs of growing length, each once.
struct Boxes {
  TileExtents box[kMaxBoxes];
  int count = 0;

  void add(const TileExtents& next) {
    if (count == 0 || next != box[count - 1]) box[count++] = next;
  }
};

TileExtents larger_of(const TileExtents& a, const TileExtents& b, int rank) {
  TileExtents result = a;
  for (int axis = 0; axis < rank; ++axis) result[axis] = std::max(a[axis], b[axis]);
  return result;
}

/// Boxes that are worth a look: for runs of growing length on both sides.
struct TileCandidates {
  std::vector<TileBox> boxes;  // on the heap: callers' threads may have small stacks
  int count = 0;

  TileCandidates(const LoopNest& nest, const TileTarget& target, const TileBuilder& builder) {
    boxes.reserve(kMaxBoxes * kMaxBoxes);
    // Small blocks only where large ones would leave multiprocessors without work.
    const TileTuning& tuning = *target.tuning;
    const bool small =
        nest.elements() < tuning.many_tiles * target.multiprocessors * builder.capacity(tuning.usual_threads);
    const int fewest = small ? tuning.fewest_threads : tuning.usual_threads,
              most = small ? tuning.usual_threads : tuning.most_threads;
    Boxes reads, writes;
    for (std::int64_t bytes = tuning.shortest_run; bytes <= tuning.longest_run; bytes *= 2) {
      reads.add(builder.reading(bytes));
      writes.add(builder.writing(bytes));
    }
    if (builder.one_axis() && builder.kept_bytes() >= tuning.shortest_run) {  // the two runs are one
      for (int threads = fewest; threads <= most; threads *= 2) {
        for (int i = 0; i < reads.count && i < writes.count; ++i) {
          const TileExtents box = builder.filled_up(larger_of(reads.box[i], writes.box[i], nest.rank()),
                                                    builder.capacity(threads), false);
          keep({box, elements_of(box, nest.rank()), threads, threads});
        }
      }
      return;
    }
    const std::int64_t room = builder.capacity(fewest);
    // No box is smaller than its neighbours before it along either side, so that one of as many elements is
    // the same, and what comes after one that is too large is too.
    std::int64_t before[kMaxBoxes] = {};  // elements, with the last run of the input
    for (int r = 0; r < reads.count; ++r) {
      std::int64_t last = 0;
      for (int w = 0; w < writes.count; ++w) {
        const TileExtents box = larger_of(reads.box[r], writes.box[w], nest.rank());
        const std::int64_t elements = elements_of(box, nest.rank());
        if (elements > builder.capacity(most)) break;
        if (elements != last && elements != before[w]) add(builder, box, elements, room, fewest, most);
        before[w] = last = elements;
      }
    }
  }

  void keep(const TileBox& box) {
    boxes.push_back(box);
    ++count;
  }

  /// A box that leaves most of a block's threads without work takes in more of the other axes.
  void add(const TileBuilder& builder, const TileExtents& box, std::int64_t elements, std::int64_t room,
           int fewest, int most) {
    TileBox next{box, elements, fewest, most};
    if (2 * elements <= room) {
      next.extent = builder.filled_up(box, room, true);
      next.elements = elements_of(next.extent, builder.rank());
    }
    keep(next);
  }
};

/// The better plan for a box. Shared memory only lowers an estimate, and is looked at where this could still
/// be one of `least` or more.
TilePlan scored(const LoopNest& nest, const TileTarget& target, const TileBuilder& builder,
                const TileBox& box, double least) {
  TilePlan plan = builder.build(box, false), scattered = builder.build(box, true);
  if (!plan.valid && !scattered.valid && box.unfilled != box.extent)
    return scored(nest, target, builder,
                  {box.unfilled, elements_of(box.unfilled, nest.rank()), box.fewest, box.most}, least);
  const auto score = [&](TilePlan& one, double enough) {
    if (!one.valid) return;
    one.score = tile_score(nest, target, one);
    if (one.score >= enough) one.score = score_with_passes(nest, target, one);
  };
  score(plan, least);
  score(scattered, std::max(least, plan.valid ? plan.score : 0));
  return scattered.valid && (!plan.valid || scattered.score > plan.score) ? scattered : plan;
}

bool has_axes(const LoopNest& nest) { return nest.rank() > 0 && nest.rank() <= kMaxRank; }

}  // namespace

TileTarget tile_target(const DeviceProperties& device, int in_bytes, int out_bytes) {
  TileTarget target;
  target.in_bytes = in_bytes;
  target.out_bytes = out_bytes;
  target.shared_bytes = device.shared_memory_per_block;
  target.multiprocessors = device.multiprocessors;
  target.memory_ratio = memory_ratio(device);
  target.banks = bank_model(device);
  const DeviceRates rates = device_rates(device);
  target.bytes_per_pass =
      rates.bytes_per_microsecond / (rates.accesses_per_microsecond * device.multiprocessors);
  target.tuning = &tile_tuning(device);
  return target;
}

TilePlan choose_tile(const LoopNest& nest, const TileTarget& target) {
  if (!has_axes(nest)) return {};
  const TileBuilder builder(nest, target);
  const TileCandidates search(nest, target, builder);
  if (search.count == 0) return {};
  double limits[kMaxBoxes * kMaxBoxes];
  for (int i = 0; i < search.count; ++i) {
    const TileBox& box = search.boxes[static_cast<std::size_t>(i)];
    int threads = box.fewest;
    while (threads < box.most && box.elements > builder.capacity(threads)) threads *= 2;
    limits[i] = score_limit(target, box.elements, threads, builder.runs_of(box.extent));
  }
  // The most promising box first: most others cannot be better then. The first one of equals counts.
  const int promising = static_cast<int>(std::max_element(limits, limits + search.count) - limits);
  TilePlan best = scored(nest, target, builder, search.boxes[static_cast<std::size_t>(promising)], 0);
  if (!best.valid) best = {};
  int best_box = promising, planned = 1;
  for (int i = 0; i < search.count; ++i) {
    if (i == promising || limits[i] < best.score) continue;
    const TilePlan plan =
        scored(nest, target, builder, search.boxes[static_cast<std::size_t>(i)], best.score);
    ++planned;
    if (!plan.valid || plan.score < best.score || (plan.score == best.score && i > best_box)) continue;
    best = plan;
    best_box = i;
  }
  best.boxes_considered = search.count;
  best.boxes_planned = planned;
  return best;
}

std::vector<TilePlan> tile_candidates(const LoopNest& nest, const TileTarget& target) {
  std::vector<TilePlan> plans;
  if (!has_axes(nest)) return plans;
  const TileBuilder builder(nest, target);
  const TileCandidates search(nest, target, builder);
  for (int i = 0; i < search.count; ++i) {
    const TilePlan plan = scored(nest, target, builder, search.boxes[static_cast<std::size_t>(i)], 0);
    const auto same = [&](const TilePlan& other) {
      return other.threads == plan.threads && other.extent == plan.extent;
    };
    if (plan.valid && std::none_of(plans.begin(), plans.end(), same)) plans.push_back(plan);
  }
  std::stable_sort(plans.begin(), plans.end(),
                   [](const TilePlan& a, const TilePlan& b) { return a.score > b.score; });
  return plans;
}

}  // namespace relayout::plan
