// The matrix unit of kernels that run on fibers: none.
#pragma once

#include "platform/plain_matrix_unit.hpp"

namespace relayout::RELAYOUT_BACKEND {

template <int W, class T>
using MatrixUnit = PlainMatrixUnit<W, T>;

}  // namespace relayout::RELAYOUT_BACKEND
