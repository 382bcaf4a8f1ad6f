// Includes every public header but relayout/kernel.hpp, whose words are macros.
#pragma once

/// Everything that a user names. Functions take the stream first, inputs before outputs, and options last;
/// they check their arguments before anything is queued, and throw relayout::Error.
namespace relayout {}

#include <relayout/arithmetic.hpp>
#include <relayout/buffer.hpp>
#include <relayout/cast_options.hpp>
#include <relayout/conv1d.hpp>
#include <relayout/conv_plan.hpp>
#include <relayout/copy_options.hpp>
#include <relayout/copy_plan.hpp>
#include <relayout/depthwise.hpp>
#include <relayout/depthwise_backward.hpp>
#include <relayout/depthwise_varlen.hpp>
#include <relayout/device.hpp>
#include <relayout/distribution.hpp>
#include <relayout/dtype.hpp>
#include <relayout/elementwise.hpp>
#include <relayout/error.hpp>
#include <relayout/fill.hpp>
#include <relayout/functors.hpp>
#include <relayout/gemm.hpp>
#include <relayout/graph.hpp>
#include <relayout/group.hpp>
#include <relayout/host_device.hpp>
#include <relayout/img2col.hpp>
#include <relayout/layout.hpp>
#include <relayout/map.hpp>
#include <relayout/operand.hpp>
#include <relayout/operation.hpp>
#include <relayout/overlap.hpp>
#include <relayout/pad.hpp>
#include <relayout/permute.hpp>
#include <relayout/plan_cache.hpp>
#include <relayout/promotion.hpp>
#include <relayout/quantized.hpp>
#include <relayout/redistribute.hpp>
#include <relayout/stream.hpp>
#include <relayout/support.hpp>
#include <relayout/tensor_view.hpp>
#include <relayout/tile_padding.hpp>
#include <relayout/tile_space.hpp>
#include <relayout/tile_transfer.hpp>
#include <relayout/upload_choice.hpp>
#include <relayout/window_plan.hpp>
