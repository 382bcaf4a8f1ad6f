// What Device::cpu() runs: native code behind the same table as the kernels. Every function has finished its
// work when it returns; the launch context is not used.
#pragma once

#include "core/kernel_table.hpp"

namespace relayout::native {

void copy(const LaunchContext& context, const CopyKernelParams& params);
void window(const LaunchContext& context, const WindowParams& params);
void gemm(const LaunchContext& context, const GemmParams& params);
void gemm_epilogue(const LaunchContext& context, const GemmParams& params);
void conv(const LaunchContext& context, const ConvParams& params);
void depthwise(const LaunchContext& context, const DepthwiseParams& params);
void depthwise_backward(const LaunchContext& context, const DepthwiseBackwardParams& params);
void depthwise_sequences(const LaunchContext& context, const DepthwiseSequenceParams& params);
void elementwise(const LaunchContext& context, const ElementwiseParams& params);
void exchange_signals(const LaunchContext& context, const SignalParams& params);

const KernelTable& kernel_table();

}  // namespace relayout::native
