// Everything of relayout.
#pragma once

#include <relayout/buffer.hpp>
#include <relayout/conv1d.hpp>
#include <relayout/device.hpp>
#include <relayout/dtype.hpp>
#include <relayout/error.hpp>
#include <relayout/gemm.hpp>
#include <relayout/img2col.hpp>
#include <relayout/pad.hpp>
#include <relayout/permute.hpp>
#include <relayout/stream.hpp>
#include <relayout/tensor_view.hpp>
