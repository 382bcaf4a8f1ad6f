// The kernels of one back end, as functions that queue them. A back end's copy is made by
// kernels/kernel_table.cpp; Device::cpu() fills the same table with native code
// (host/cpu/native_table.cpp).
#pragma once

#include "core/conv_params.hpp"
#include "core/copy_params.hpp"
#include "core/depthwise_params.hpp"
#include "core/elementwise_params.hpp"
#include "core/gemm_params.hpp"
#include "core/launch_context.hpp"
#include "core/tile_params.hpp"
#include "core/window_params.hpp"

namespace relayout {

struct KernelTable {
  /// Copies that host/plan/copy/tile_plan.hpp has a plan for; not in native code.
  void (*tile)(const LaunchContext&, const TileParams&);
  /// Copies between two pieces of memory; not in native code.
  void (*stream)(const LaunchContext&, const StreamParams&);
  /// Any copy.
  void (*gather)(const LaunchContext&, const CopyParams&);
  void (*window)(const LaunchContext&, const WindowParams&);
  /// `window` for operands that host/plan/window/window_plan.hpp finds aligned.
  void (*window_vector)(const LaunchContext&, const WindowParams&);
  /// `window` for one tap, stride 1 and time fastest on both sides, without a cast.
  void (*pad_rows)(const LaunchContext&, const WindowParams&);
  void (*gemm)(const LaunchContext&, const GemmParams&);
  /// y = round(workspace + bias): the second half of a GEMM whose library wrote f32 sums to the workspace,
  /// packed [groups, m, n].
  void (*gemm_epilogue)(const LaunchContext&, const GemmParams&);
  /// A convolution from the input to y. A launch of no outputs is no launch.
  void (*conv)(const LaunchContext&, const ConvParams&);
  /// The outputs, where there are any, and the final state, where one is wanted.
  void (*depthwise)(const LaunchContext&, const DepthwiseParams&);
  void (*depthwise_update)(const LaunchContext&, const DepthwiseParams&);
  void (*elementwise)(const LaunchContext&, const ElementwiseParams&);
};

}  // namespace relayout

#ifdef RELAYOUT_BACKEND
namespace relayout::RELAYOUT_BACKEND {
/// The kernels as this back end compiled them (kernels/kernel_table.cpp).
const KernelTable& kernel_table();
}  // namespace relayout::RELAYOUT_BACKEND
#endif
