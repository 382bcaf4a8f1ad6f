// The functions of relayout._core that stand in files of their own.
#pragma once

#include "bindings/python/src/python.hpp"

namespace relayout::python {

extern PyMethodDef group_functions[];
extern PyMethodDef redistribute_functions[];

}  // namespace relayout::python
