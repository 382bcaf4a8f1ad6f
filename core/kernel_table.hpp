// The kernels of one back end, as functions that queue them. A back end's copy is made by
// kernels/kernel_table.cpp; Device::cpu() fills the same table with native code
// (host/cpu/native_table.cpp).
#pragma once

#include "core/conv_params.hpp"
#include "core/copy_params.hpp"
#include "core/depthwise_backward_params.hpp"
#include "core/depthwise_params.hpp"
#include "core/depthwise_sequence_params.hpp"
#include "core/elementwise_params.hpp"
#include "core/gemm_params.hpp"
#include "core/launch_context.hpp"
#include "core/signal_params.hpp"
#include "core/window_params.hpp"

namespace relayout {

struct KernelTable {
  /// By the kernel whose parameters these are; native code takes CopyParams.
  void (*copy)(const LaunchContext&, const CopyKernelParams&);
  /// Padding and img2col, by WindowParams::kernel.
  void (*window)(const LaunchContext&, const WindowParams&);
  /// A GEMM, or the second half of a library's, by GemmParams::kernel.
  void (*gemm)(const LaunchContext&, const GemmParams&);
  /// A convolution from the input to y. A launch of no outputs is no launch.
  void (*conv)(const LaunchContext&, const ConvParams&);
  /// Depthwise convolution and its update by a few samples, by DepthwiseParams::kernel.
  void (*depthwise)(const LaunchContext&, const DepthwiseParams&);
  /// The gradients of a depthwise convolution, by DepthwiseBackwardParams::kernel.
  void (*depthwise_backward)(const LaunchContext&, const DepthwiseBackwardParams&);
  /// Depthwise operations on sequences, by DepthwiseSequenceParams::kernel.
  void (*depthwise_sequences)(const LaunchContext&, const DepthwiseSequenceParams&);
  void (*elementwise)(const LaunchContext&, const ElementwiseParams&);
  /// Makes the stream wait for those of other ranks, and lets them go on.
  void (*exchange_signals)(const LaunchContext&, const SignalParams&);
};

}  // namespace relayout

#ifdef RELAYOUT_BACKEND
namespace relayout::RELAYOUT_BACKEND {
/// The kernels as this back end compiled them (kernels/kernel_table.cpp).
const KernelTable& kernel_table();
}  // namespace relayout::RELAYOUT_BACKEND
#endif
