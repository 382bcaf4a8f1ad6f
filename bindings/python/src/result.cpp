// The type and shape of an output that the package makes.
#include <algorithm>
#include <initializer_list>

#include "bindings/python/src/call.hpp"

namespace relayout::python {
namespace {

void set_shape(ResultSpec& spec, std::initializer_list<std::int64_t> shape) {
  spec.rank = static_cast<int>(shape.size());
  std::copy(shape.begin(), shape.end(), spec.shape);
}

void check_rank(const Tensor& tensor, int rank, const char* name) {
  if (tensor.dl.ndim != rank) {
    fail(RELAYOUT_RANK,
         std::string(name) + " is " + to_string(tensor) + " and must have " + std::to_string(rank) + " axes");
  }
}

/// As `tensor`, with the type that was asked for.
ResultSpec same_as(const Tensor& tensor, relayout_dl_dtype asked) {
  ResultSpec spec;
  spec.dtype = asked.bits != 0 ? asked : tensor.dl.dtype;
  spec.rank = tensor.dl.ndim;
  std::copy(tensor.shape, tensor.shape + tensor.dl.ndim, spec.shape);
  return spec;
}

ResultSpec permuted(const Call& call) {
  const Tensor& x = call.prototype();
  const Options& o = call.options;
  ResultSpec spec = same_as(x, o.dtype);
  if (o.axis_count != x.dl.ndim) {
    fail(RELAYOUT_INVALID_ARGUMENT,
         "axes has " + std::to_string(o.axis_count) + " numbers, and x is " + to_string(x));
  }
  for (int axis = 0; axis < o.axis_count; ++axis) {
    if (o.axes[axis] < 0 || o.axes[axis] >= x.dl.ndim)
      fail(RELAYOUT_INVALID_ARGUMENT,
           "axes holds " + std::to_string(o.axes[axis]) + ", and x is " + to_string(x));
    spec.shape[axis] = x.shape[o.axes[axis]];
  }
  return spec;
}

ResultSpec transposed(const Call& call) {
  ResultSpec spec = same_as(call.prototype(), call.options.dtype);
  if (spec.rank < 2)
    fail(RELAYOUT_RANK, "transpose: x is " + to_string(call.prototype()) + " and needs two axes");
  std::swap(spec.shape[spec.rank - 1], spec.shape[spec.rank - 2]);
  return spec;
}

ResultSpec chained(const Call& call) {
  ResultSpec spec;
  std::int32_t rank = 0;
  check(relayout_chain_result(call.steps.data(), static_cast<std::int32_t>(call.steps.size()),
                              call.operands.data(), static_cast<std::int32_t>(call.operands.size()),
                              &call.options.elementwise, &spec.dtype, &rank, spec.shape));
  spec.rank = rank;
  if (call.options.dtype.bits != 0) spec.dtype = call.options.dtype;
  return spec;
}

std::int64_t positions_of(const Tensor& x, const Options& o) {
  std::int64_t positions = 0;
  check(relayout_output_length(x.shape[2], &o.window, &o.pad, &positions));
  return positions;
}

ResultSpec unfolded(const Call& call) {
  const Tensor& x = call.prototype();
  const Options& o = call.options;
  check_rank(x, 3, "x");
  ResultSpec spec = same_as(x, o.dtype);
  const std::int64_t rows = x.shape[0] * positions_of(x, o);
  const std::int64_t groups = std::max<std::int64_t>(o.window.groups, 1);
  const std::int64_t columns = o.window.taps * (x.shape[1] / groups);
  if (groups == 1) {
    set_shape(spec, {rows, columns});
  } else {
    set_shape(spec, {groups, rows, columns});
  }
  return spec;
}

ResultSpec convolved(const Call& call) {
  const Tensor& x = call.prototype();
  check_rank(x, 3, "x");
  if (call.pinned.empty()) fail(PyExc_TypeError, "weights must be a tensor");
  check_rank(*call.pinned[0], 3, "weights");
  ResultSpec spec = same_as(x, call.options.dtype);
  set_shape(spec, {x.shape[0], positions_of(x, call.options), call.pinned[0]->shape[0]});
  return spec;
}

ResultSpec multiplied(const Call& call) {
  const Tensor& a = call.prototype();
  if (call.pinned.empty()) fail(PyExc_TypeError, "bt must be a tensor");
  const Tensor& bt = *call.pinned[0];
  if (a.dl.ndim < 2 || a.dl.ndim > 3 || bt.dl.ndim != a.dl.ndim)
    fail(RELAYOUT_RANK,
         "a and bt must both have 2 or 3 axes; they are " + to_string(a) + " and " + to_string(bt));
  ResultSpec spec = same_as(a, call.options.dtype);
  spec.shape[spec.rank - 1] = bt.shape[spec.rank - 2];
  return spec;
}

}  // namespace

std::string chain_dtype(PyObject* arguments) {
  PyObject *steps = nullptr, *operands = nullptr;
  if (PyArg_ParseTuple(arguments, "OO!", &steps, &PyTuple_Type, &operands) == 0) throw PythonError();
  Call call;
  read_options(Py_None, call.options);
  read_steps(steps, call);
  for (Py_ssize_t i = 0; i < PyTuple_Size(operands); ++i) {
    PyObject* const object = PyTuple_GetItem(operands, i);
    relayout_operand operand{};
    if (PyUnicode_Check(object) != 0) {
      call.tensors.emplace_back(new Tensor);
      Tensor& tensor = *call.tensors.back();
      tensor.dl.device = {RELAYOUT_DL_CPU, 0};
      tensor.dl.dtype = dtype_named(text_of(object));
      set_rank(tensor, 0, "operand");
      operand.tensor = &tensor.dl;
    } else {
      read_constant(object, operand);
    }
    call.operands.push_back(operand);
  }
  return dtype_name(chained(call).dtype);
}

ResultSpec result_of(const Call& call) {
  const Options& o = call.options;
  switch (call.op) {
    case Op::chain:
      return chained(call);
    case Op::permute:
      return permuted(call);
    case Op::transpose:
      return transposed(call);
    case Op::pad: {
      check_rank(call.prototype(), 3, "x");
      ResultSpec spec = same_as(call.prototype(), o.dtype);
      spec.shape[2] = std::max<std::int64_t>(spec.shape[2] + o.pad.left + o.pad.right, 0);
      return spec;
    }
    case Op::img2col:
      return unfolded(call);
    case Op::rearrange_weights: {
      check_rank(call.prototype(), 3, "weights");
      ResultSpec spec = same_as(call.prototype(), o.dtype);
      set_shape(spec, {spec.shape[0], spec.shape[1] * spec.shape[2]});
      return spec;
    }
    case Op::dequantize: {
      ResultSpec spec = same_as(call.prototype(), o.dtype);
      if (o.dtype.bits == 0) spec.dtype = {RELAYOUT_DL_FLOAT, 32, 1};
      return spec;
    }
    case Op::depthwise_varlen_states: {
      check_rank(call.prototype(), 2, "x");
      if (call.pinned.empty()) fail(PyExc_TypeError, "query_start_loc must be a tensor");
      check_rank(*call.pinned[0], 1, "query_start_loc");
      if (o.state_length < 0) fail(RELAYOUT_INVALID_ARGUMENT, "state_length must not be negative");
      ResultSpec spec = same_as(call.prototype(), o.dtype);
      set_shape(spec,
                {std::max<std::int64_t>(call.pinned[0]->shape[0] - 1, 0), spec.shape[0], o.state_length});
      return spec;
    }
    case Op::gemm:
      return multiplied(call);
    case Op::conv1d:
      return convolved(call);
    case Op::quantize: {
      ResultSpec spec = same_as(call.prototype(), o.dtype);
      if (o.dtype.bits == 0) spec.dtype = {RELAYOUT_DL_INT, 8, 1};
      return spec;
    }
    case Op::fill:
    case Op::quantized:
      fail(PyExc_TypeError, "out must be given");
    default:
      return same_as(call.prototype(), o.dtype);
  }
}

}  // namespace relayout::python
