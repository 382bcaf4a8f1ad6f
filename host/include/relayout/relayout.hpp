// Everything of relayout.
#pragma once

#include <relayout/buffer.hpp>
#include <relayout/cast_options.hpp>
#include <relayout/conv1d.hpp>
#include <relayout/conv_plan.hpp>
#include <relayout/copy_options.hpp>
#include <relayout/copy_plan.hpp>
#include <relayout/depthwise.hpp>
#include <relayout/device.hpp>
#include <relayout/dtype.hpp>
#include <relayout/elementwise.hpp>
#include <relayout/error.hpp>
#include <relayout/gemm.hpp>
#include <relayout/graph.hpp>
#include <relayout/img2col.hpp>
#include <relayout/operation.hpp>
#include <relayout/overlap.hpp>
#include <relayout/pad.hpp>
#include <relayout/path_choice.hpp>
#include <relayout/permute.hpp>
#include <relayout/plan_cache.hpp>
#include <relayout/promotion.hpp>
#include <relayout/stream.hpp>
#include <relayout/tensor_view.hpp>
