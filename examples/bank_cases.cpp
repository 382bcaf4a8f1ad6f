#include "bank_cases.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/tile_geometry.hpp"
#include "host/plan/copy/bank_layout.hpp"
#include "host/plan/copy/tile_banks.hpp"
#include "host/plan/copy/tile_params_builder.hpp"
#include "host/plan/copy/tile_plan.hpp"
#include "input_error.hpp"

namespace example {
namespace {

using namespace relayout;
using plan::BankModel;
using plan::BankTile;
using plan::SharedAccess;

alignas(32) char memory[32];  // stands for both tensors; only addresses are computed

/// Keeps the access whose worst phase takes the most passes. Among equals it is the last one: the drain
/// before the fill.
class WorstFinder {
 public:
  explicit WorstFinder(const BankModel& model) : model_(model) {}

  plan::SharedVisitor visitor() {
    return [this](SharedAccess access, const std::vector<std::int64_t>& addresses, int bytes) {
      plan::BankCount count;
      add_access(model_, access, addresses, bytes, count);
      if (count.worst < worst_.passes || (count.worst == worst_.passes && access == worst_.access)) return;
      worst_ = {access, bytes, count.worst, {}};
      addresses_ = addresses;
    };
  }

  WorstAccess worst() {
    std::map<int, std::map<int, std::map<std::int64_t, std::set<int>>>> phases;  // phase, bank, word, lanes
    for (std::size_t lane = 0; lane < addresses_.size(); ++lane) {
      if (addresses_[lane] == plan::kNoAddress) continue;
      auto& banks = phases[model_.phase_of(worst_.access, worst_.bytes, static_cast<int>(lane))];
      for (std::int64_t byte = addresses_[lane]; byte < addresses_[lane] + worst_.bytes; ++byte) {
        const std::int64_t word = byte / model_.bank_bytes;
        banks[static_cast<int>(word % model_.banks(worst_.access))][word].insert(static_cast<int>(lane));
      }
    }
    for (const auto& phase : phases) {
      std::vector<std::vector<std::vector<int>>> lanes(static_cast<std::size_t>(model_.banks(worst_.access)));
      std::size_t most = 0;
      for (const auto& [bank, words] : phase.second) {
        most = std::max(most, words.size());
        for (const auto& word : words)
          lanes[static_cast<std::size_t>(bank)].emplace_back(word.second.begin(), word.second.end());
      }
      if (static_cast<int>(most) == worst_.passes && worst_.lanes.empty()) worst_.lanes = lanes;
    }
    return worst_;
  }

 private:
  const BankModel& model_;
  WorstAccess worst_;
  std::vector<std::int64_t> addresses_;
};

/// The tile as the solver sees it: both runs with vectors of 16 bytes. Words of several short elements are
/// elements of 4 bytes.
BankTile bank_tile(const plan::TilePlan& plan, int rank, int element_bytes) {
  BankTile tile;
  for (int axis = 0; axis < rank; ++axis) tile.extents.push_back(plan.extent[static_cast<std::size_t>(axis)]);
  tile.element_bytes = element_bytes * plan.grouped;
  tile.extents[static_cast<std::size_t>(plan.read.axes[0])] /= plan.grouped;
  const auto order = [](const plan::TileOrder& from) {
    return std::vector<int>(from.axes.begin(), from.axes.begin() + from.count);
  };
  tile.fill = {order(plan.read), 16 / tile.element_bytes, 16, plan.read.run, 0};
  tile.drain = {order(plan.write), 16 / element_bytes, tile.element_bytes, plan.write.run, kTileStripVectors};
  if (plan.assembly == plan::TileWrite::vectors) tile.drain.access_bytes = 16;
  return tile;
}

std::string joined(const plan::TileOrder& order, const plan::TilePlan& plan) {
  std::string text;
  for (int k = order.count; k-- > 0;) {
    text += std::to_string(plan.extent[static_cast<std::size_t>(order.axes[static_cast<std::size_t>(k)])]);
    text += k > 0 ? " x " : "";
  }
  return text;
}

const char* name_of(plan::TileWrite write) {
  switch (write) {
    case plan::TileWrite::elements:
      return "elements";
    case plan::TileWrite::words:
      return "words";
    case plan::TileWrite::vectors:
      return "vectors";
    case plan::TileWrite::scattered:
      return "scattered";
    case plan::TileWrite::unaligned_rows:
      return "unaligned rows";
    case plan::TileWrite::unaligned_groups:
      return "unaligned groups of rows";
    default:
      return "unaligned columns";
  }
}

const char* name_of(plan::BankRemedy remedy) {
  return remedy == plan::BankRemedy::none      ? "as it is"
         : remedy == plan::BankRemedy::padding ? "padding"
                                               : "swizzle";
}

}  // namespace

BankCases bank_cases(const Dims& shape, const std::vector<int>& axes, DType dtype,
                     const DeviceProperties& device) {
  const TensorView in = TensorView(memory, dtype, shape).permuted(axes);
  const plan::LoopNest nest = plan::normalise(plan::make_nest(TensorView(memory, dtype, in.shape()), {in}));
  const int element_bytes = static_cast<int>(size_of(dtype));
  const plan::TilePlan chosen =
      plan::choose_tile(nest, plan::tile_target(device, element_bytes, element_bytes));
  if (!chosen.valid) throw InputError("this permutation does not go through tiles in shared memory.");

  TileParams params;
  params.in = params.out = memory;
  params.in_type = params.out_type = dtype;
  fill_tile_params(nest, chosen, params);
  const BankModel model = plan::bank_model(device);
  const BankTile tile = bank_tile(chosen, nest.rank(), element_bytes);

  BankCases result;
  result.device = device;
  result.tile = "tile read as " + joined(chosen.read, chosen) + " in runs of " +
                std::to_string(chosen.read.run_elements) + ", written as " + joined(chosen.write, chosen) +
                " in runs of " + std::to_string(chosen.write.run_elements) + ", " + name_of(chosen.assembly) +
                ", " + std::to_string(chosen.threads) + " threads";
  const auto add = [&](const std::string& name, const std::string& remark, std::int64_t bytes,
                       const auto& visit) {
    BankCase one;
    one.name = name;
    one.remark = remark;
    one.bytes = bytes;
    visit(counting(model, one.report));
    WorstFinder finder(model);
    visit(finder.visitor());
    one.worst = finder.worst();
    result.cases.push_back(one);
  };
  const plan::BankLayout dense = plan::dense_layout(tile);
  add("dense", "rows one after the other", dense.bytes,
      [&](const plan::SharedVisitor& visit) { visit_tile(tile, dense, model.lanes, visit); });
  add("tile kernel", "rows of " + std::to_string(params.pitch) + " bytes", params.tile_bytes,
      [&](const plan::SharedVisitor& visit) { visit_shared_accesses(params, model.lanes, visit); });
  const plan::BankSolution solved = plan::solve_banks(tile, model, {device.shared_memory_per_block, {}});
  add("solved",
      std::string(name_of(solved.remedy)) + (solved.reordered ? ", output runs in another order" : ""),
      solved.layout.bytes,
      [&](const plan::SharedVisitor& visit) { visit_tile(solved.tile, solved.layout, model.lanes, visit); });
  return result;
}

}  // namespace example
