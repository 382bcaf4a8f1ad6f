// The launchers of one back end's kernels; kernel_table.cpp gathers them.
#pragma once

#include "core/kernel_table.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_copy(const LaunchContext& context, const CopyKernelParams& params);
void launch_tile(const LaunchContext& context, const TileParams& params);
void launch_tile_cast(const LaunchContext& context, const TileParams& params);
void launch_tile_scaled(const LaunchContext& context, const TileParams& params);
void launch_tile_generic_cast(const LaunchContext& context, const TileParams& params);
void launch_tile_table(const LaunchContext& context, const WithTable<TileParams>& params);
void launch_stream(const LaunchContext& context, const StreamParams& params);
void launch_stream_cast(const LaunchContext& context, const StreamParams& params);
void launch_stream_unaligned(const LaunchContext& context, const StreamParams& params);
void launch_stream_table(const LaunchContext& context, const WithTable<StreamParams>& params);
void launch_rows(const LaunchContext& context, const RowsParams& params);
void launch_rows_cast(const LaunchContext& context, const RowsParams& params);
void launch_rows_lanes(const LaunchContext& context, const RowsParams& params);
void launch_rows_table(const LaunchContext& context, const WithTable<RowsParams>& params);
void launch_rows_lanes_table(const LaunchContext& context, const WithTable<RowsParams>& params);
void launch_gather(const LaunchContext& context, const NearGatherParams& params);
void launch_gather(const LaunchContext& context, const FarGatherParams& params);
void launch_gather(const LaunchContext& context, const HugeGatherParams& params);
void launch_window(const LaunchContext& context, const WindowParams& params);
void launch_window_vector(const LaunchContext& context, const WindowParams& params);
void launch_window_tile(const LaunchContext& context, const WindowParams& params);
void launch_pad_rows(const LaunchContext& context, const WindowParams& params);
void launch_gemm(const LaunchContext& context, const GemmParams& params);
void launch_conv(const LaunchContext& context, const ConvParams& params);
void launch_depthwise(const LaunchContext& context, const DepthwiseParams& params);
void launch_depthwise_time(const LaunchContext& context, const DepthwiseParams& params);
void launch_depthwise_time_many(const LaunchContext& context, const DepthwiseParams& params);
void launch_depthwise_time_matrix(const LaunchContext& context, const DepthwiseParams& params);
void launch_depthwise_tile_matrix(const LaunchContext& context, const DepthwiseParams& params);
void launch_depthwise_channel(const LaunchContext& context, const DepthwiseParams& params);
void launch_depthwise_channel_aligned(const LaunchContext& context, const DepthwiseParams& params);
void launch_depthwise_channel_many(const LaunchContext& context, const DepthwiseParams& p);
void launch_depthwise_turn(const LaunchContext& context, const DepthwiseParams& params);
void launch_depthwise_tile(const LaunchContext& context, const DepthwiseParams& params);
void launch_depthwise_backward(const LaunchContext& context, const DepthwiseBackwardParams& params);
void launch_depthwise_backward_tile(const LaunchContext& context, const DepthwiseBackwardParams& params);
void launch_depthwise_backward_channels(const LaunchContext& context, const DepthwiseBackwardParams& params);
void launch_depthwise_backward_time(const LaunchContext& context, const DepthwiseBackwardParams& params);
void launch_depthwise_update(const LaunchContext& context, const DepthwiseParams& params);
void launch_depthwise_sequences(const LaunchContext& context, const DepthwiseSequenceParams& params);
void launch_depthwise_indexed_update(const LaunchContext& context, const DepthwiseSequenceParams& q);
void launch_depthwise_varlen_channel(const LaunchContext& context, const DepthwiseSequenceParams& q);
void launch_depthwise_varlen_time(const LaunchContext& context, const DepthwiseSequenceParams& q);
void launch_depthwise_block_states(const LaunchContext& context, const DepthwiseSequenceParams& q);
void launch_exchange_signals(const LaunchContext& context, const SignalParams& params);
void launch_elementwise(const LaunchContext& context, const ElementwiseParams& params);
void launch_chain_cheap(const LaunchContext& context, const ElementwiseParams& params);
void launch_chain_activation(const LaunchContext& context, const ElementwiseParams& params);
void launch_chain_costly(const LaunchContext& context, const ElementwiseParams& params);
void launch_chain_approximate(const LaunchContext& context, const ElementwiseParams& params);
void launch_elementwise_approximate(const LaunchContext& context, const ElementwiseParams& params);
void launch_elementwise_costly(const LaunchContext& context, const ElementwiseParams& params);
void launch_elementwise_i32(const LaunchContext& context, const ElementwiseParams& params);
void launch_elementwise_f32(const LaunchContext& context, const ElementwiseParams& params);
void launch_elementwise_wide(const LaunchContext& context, const ElementwiseParams& params);
void launch_transposed(const LaunchContext& context, const ElementwiseParams& params);
void launch_mixed(const LaunchContext& context, const ElementwiseParams& params);
void launch_mixed_chunks(const LaunchContext& context, const ElementwiseParams& params);
void launch_mixed_strips(const LaunchContext& context, const ElementwiseParams& params);
void launch_typed_aligned(const LaunchContext& context, const ElementwiseParams& params);
void launch_typed_costly_aligned(const LaunchContext& context, const ElementwiseParams& params);
void launch_typed_unaligned(const LaunchContext& context, const ElementwiseParams& params);
void launch_typed_costly_unaligned(const LaunchContext& context, const ElementwiseParams& params);
void launch_typed_chunks(const LaunchContext& context, const ElementwiseParams& params);
void launch_typed_costly_chunks(const LaunchContext& context, const ElementwiseParams& params);
void launch_typed_flat(const LaunchContext& context, const ElementwiseParams& params);
void launch_typed_costly_flat(const LaunchContext& context, const ElementwiseParams& params);
void launch_typed_strips(const LaunchContext& context, const ElementwiseParams& params);
void launch_typed_costly_strips(const LaunchContext& context, const ElementwiseParams& params);
void launch_program(const LaunchContext& context, const ElementwiseParams& params);
void launch_program_costly(const LaunchContext& context, const ElementwiseParams& params);
void launch_program_strips(const LaunchContext& context, const ElementwiseParams& params);
void launch_program_strips_costly(const LaunchContext& context, const ElementwiseParams& params);
void launch_code_rows(const LaunchContext& context, const ElementwiseParams& params);
void launch_code_vectors(const LaunchContext& context, const ElementwiseParams& params);
void launch_code_chunks(const LaunchContext& context, const ElementwiseParams& params);
void launch_code_strips(const LaunchContext& context, const ElementwiseParams& params);

}  // namespace relayout::RELAYOUT_BACKEND
