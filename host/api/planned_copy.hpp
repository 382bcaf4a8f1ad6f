// The one way of every copy: views -> check -> nest -> kernel and its parameters -> launch. permute, copy and
// cast launch at once; a CopyPlan keeps the plan.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "core/copy_params.hpp"
#include "core/tile_params.hpp"
#include "core/window_params.hpp"
#include "host/api/copy_scale.hpp"
#include "host/plan/copy/tile_plan.hpp"
#include "host/plan/loop_nest.hpp"
#include "relayout/copy_plan.hpp"

namespace relayout {

/// The memory of one side.
struct CopyOperand {
  const void* data = nullptr;  // as planned
  std::int64_t offset = 0;     // bytes from there to the first element of the nest
  TensorView::ByteRange range{0, 0};
  std::int64_t alignment = 1;  // that the plan counts on, of data + offset

  /// Where the nest starts for a pointer in the place of `data`.
  std::uintptr_t start(const void* pointer) const noexcept {
    return reinterpret_cast<std::uintptr_t>(pointer) + static_cast<std::uintptr_t>(offset);
  }
};

struct PlannedCopy {
  const char* operation = "";
  CopyKernel kernel = CopyKernel::nothing;
  DType in_type = DType::f32, out_type = DType::f32;  // as the kernel moves them
  CopyPlanOptions options;                            // the scale rounded as the kernel takes it
  plan::LoopNest nest;                                // without operand 1 where the input has axes of its own
  CopyOperand in, out;
  plan::TilePlan tile;  // of CopyKernel::tile
  /// The kernel's parameters, but for the pointers: StreamParams, TileParams, WindowParams, or CopyParams for
  /// the rest.
  std::variant<CopyParams, StreamParams, TileParams, WindowParams> params;
};

/// Checks and plans out = in by flat C index. Null pointers count as aligned; they are an error of
/// launch_copy.
PlannedCopy plan_copy_of(const char* operation, const PlanTarget& target, const TensorView& in,
                         const TensorView& out, const CopyPlanOptions& options = {});

/// What takes the place of the planned views' data(): the pointers, or where there is a slot what it holds
/// when the copy starts, which takes a plan with `indirect`.
struct CopyMemory {
  const void* in = nullptr;
  void* out = nullptr;
  const void* const* in_slot = nullptr;
  void* const* out_slot = nullptr;
};

/// Other plans of the same copy that are worth timing, the best by estimate first: what a window or tiles can
/// do. Where neither is in question, the plan alone.
std::vector<PlannedCopy> candidates_of(const DeviceProperties& device, const PlannedCopy& planned);

/// Error{null_pointer} for a side that has elements and neither a pointer nor a slot.
void check_given(const PlannedCopy& planned, const CopyMemory& memory);

/// Queues the copy. Only null pointers are checked.
void launch_copy(const Stream& stream, const PlannedCopy& planned, const CopyMemory& memory);

}  // namespace relayout
