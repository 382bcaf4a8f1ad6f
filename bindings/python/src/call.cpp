#include "bindings/python/src/call.hpp"

#include <cstring>
#include <deque>

namespace relayout::python {
namespace {

constexpr const char* kNoNames[] = {"x"};
constexpr const char* kDepthwiseNames[] = {"x",           "weights",     "bias", "initial_state",
                                           "final_state", "sequence_ids"};
constexpr const char* kUpdateNames[] = {"state",
                                        "x",
                                        "weights",
                                        "bias",
                                        "state_indices",
                                        "cache_seqlens",
                                        "num_accepted_tokens",
                                        "query_start_loc",
                                        "initial_block",
                                        "last_block"};
constexpr const char* kVarlenNames[] = {"x",          "query_start_loc", "weights",           "bias",
                                        "states",     "state_indices",   "has_initial_state", "initial_block",
                                        "last_block", "first_block",     "computed_tokens"};
constexpr const char* kGemmNames[] = {"a", "bt", "bias", "workspace"};
constexpr const char* kConvNames[] = {"x", "weights", "bias"};
constexpr const char* kBackwardNames[] = {"x",         "d_out",         "workspace",      "weights",
                                          "bias",      "initial_state", "sequence_ids",   "d_final_state",
                                          "d_weights", "d_bias",        "d_initial_state"};

/// "operand 3". Names are made once, since hardly one is ever read. Guarded by Python's lock.
const char* numbered_operand(int i) {
  static std::deque<std::string> names;
  while (static_cast<std::size_t>(i) >= names.size())
    names.push_back("operand " + std::to_string(names.size()));
  return names[static_cast<std::size_t>(i)].c_str();
}

/// The name of an operand, for messages.
const char* operand_name(Op op, int i) {
  switch (op) {
    case Op::chain:
    case Op::quantized:
      return numbered_operand(i);
    case Op::depthwise_conv1d:
      return kDepthwiseNames[i];
    case Op::depthwise_update:
      return kUpdateNames[i];
    case Op::depthwise_varlen:
    case Op::depthwise_varlen_states:
      return kVarlenNames[i];
    case Op::gemm:
      return kGemmNames[i];
    case Op::conv1d:
      return kConvNames[i];
    case Op::depthwise_conv1d_backward:
      return kBackwardNames[i];
    default:
      return kNoNames[0];
  }
}

/// Whether the operand may be None.
bool is_optional(Op op, int i) {
  return (op == Op::depthwise_conv1d && i >= 2) || (op == Op::depthwise_update && i >= 3) ||
         (op == Op::depthwise_varlen && i >= 3) || ((op == Op::gemm || op == Op::conv1d) && i >= 2) ||
         (op == Op::depthwise_conv1d_backward && (i == 2 || i >= 4));
}

/// Whether relayout_run_on replaces the operand, where it does not replace every tensor.
bool moves(Op op, int i) {
  return op == Op::depthwise_conv1d_backward ? i < 3 : i == (op == Op::depthwise_update ? 1 : 0);
}
/// Whether the call writes to the operand besides its output.
bool is_written(Op op, int i) {
  if (op == Op::depthwise_conv1d_backward) return i == 2 || i >= 8;
  if (op == Op::depthwise_update) return i == 0;
  return (op == Op::depthwise_conv1d || op == Op::depthwise_varlen) && i == 4;
}
bool all_move(Op op) {
  return op == Op::chain || op == Op::quantized || op == Op::quantize || op == Op::dequantize;
}

Tensor& add_tensor(Call& call, PyObject* object, const char* name) {
  call.tensors.emplace_back(new Tensor);  // without setting shape and strides, of which few are used
  describe(object, name, *call.tensors.back());
  return *call.tensors.back();
}

/// A scale or a zero point: a number, or a tensor, which stays where it was planned.
template <class Number>
void read_code_number(Call& call, PyObject* object, const char* name, Number& number,
                      const relayout_tensor*& tensor) {
  if (PyFloat_Check(object) != 0 || PyLong_Check(object) != 0) {
    const double value = PyFloat_AsDouble(object);
    if (value == -1 && PyErr_Occurred() != nullptr) throw PythonError();
    number = static_cast<Number>(value);
    return;
  }
  const Tensor& described = add_tensor(call, object, name);
  call.pinned.push_back(&described);
  tensor = &described.dl;
}

/// (tensor, scale, zero) are codes.
const Tensor& read_codes(Call& call, PyObject* tuple, const char* name, relayout_operand& operand) {
  PyObject *codes = nullptr, *scale = nullptr, *zero = nullptr;
  if (PyArg_ParseTuple(tuple, "OOO", &codes, &scale, &zero) == 0) throw PythonError();
  operand.kind = RELAYOUT_OPERAND_CODES;
  const Tensor& described = add_tensor(call, codes, name);
  operand.tensor = &described.dl;
  read_code_number(call, scale, "scale", operand.scale, operand.scales);
  read_code_number(call, zero, "zero", operand.zero, operand.zeros);
  return described;
}

void read_operand(Call& call, int i, PyObject* object) {
  relayout_operand operand{};
  const char* const name = operand_name(call.op, i);
  const bool is_moved = all_move(call.op) || moves(call.op, i);
  if (PyFloat_Check(object) != 0 || PyLong_Check(object) != 0) {
    read_constant(object, operand);
  } else if (PyTuple_Check(object) != 0) {
    call.inputs.push_back(&read_codes(call, object, name, operand));
  } else if (object != Py_None || !is_optional(call.op, i)) {
    const Tensor& described = add_tensor(call, object, name);
    operand.tensor = &described.dl;
    if (is_written(call.op, i) && described.read_only)
      fail(RELAYOUT_INVALID_ARGUMENT, std::string(name) + " is read-only, and nothing was written to it");
    (is_moved ? call.inputs : call.pinned).push_back(&described);
  }
  call.operands.push_back(operand);
}

/// Axes as numpy takes them: none reverses all, and negative ones count from the last.
void normalise_axes(Call& call) {
  Options& o = call.options;
  const int rank = call.prototype().dl.ndim;
  if (o.axis_count < 0) {
    o.axis_count = rank;
    for (int axis = 0; axis < rank; ++axis) o.axes[axis] = rank - 1 - axis;
  }
  for (int i = 0; i < o.axis_count; ++i) {
    if (o.axes[i] < 0 && o.axes[i] >= -rank) o.axes[i] += rank;
  }
}

/// An output of another type than the one that was asked for by name.
void check_dtype(const Call& call) {
  const relayout_dl_dtype asked = call.options.dtype;
  if (asked.bits == 0 || call.out == nullptr || call.out_operand.kind == RELAYOUT_OPERAND_CODES) return;
  if (std::memcmp(&asked, &call.out->dl.dtype, sizeof asked) != 0) {
    fail(RELAYOUT_DTYPE, "dtype is " + dtype_name(asked) + ", and out is " + to_string(*call.out));
  }
}

}  // namespace

void read_constant(PyObject* object, relayout_operand& operand) {
  if (PyBool_Check(object) != 0) {
    operand.kind = RELAYOUT_OPERAND_BOOLEAN;
    operand.integer = object == Py_True ? 1 : 0;
  } else if (PyFloat_Check(object) != 0) {
    operand.kind = RELAYOUT_OPERAND_FLOATING;
    operand.floating = PyFloat_AsDouble(object);
  } else {
    operand.kind = RELAYOUT_OPERAND_INTEGER;
    operand.integer = PyLong_AsLongLong(object);
    if (operand.integer == -1 && PyErr_Occurred() != nullptr) {
      if (PyErr_ExceptionMatches(PyExc_OverflowError) == 0) throw PythonError();
      PyErr_Clear();
      operand.kind = RELAYOUT_OPERAND_UNSIGNED;
      operand.integer = static_cast<std::int64_t>(PyLong_AsUnsignedLongLong(object));
      if (PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        fail(RELAYOUT_LITERAL_RANGE, "a constant that needs more than 64 bits has no element type");
      }
    }
  }
}

void read_steps(PyObject* steps, Call& call) {
  const std::vector<const char*>& names = operation_names();
  const auto add = [&](std::int64_t operation, std::int64_t running) {
    if (operation < 0 || operation >= static_cast<std::int64_t>(names.size()))
      fail(RELAYOUT_INVALID_ARGUMENT, "there is no operation number " + std::to_string(operation));
    call.steps.push_back({names[static_cast<std::size_t>(operation)], static_cast<std::int32_t>(running), 0});
  };
  if (steps == Py_None) return;
  if (PyLong_Check(steps) != 0) return add(integer_of(steps), 0);
  const Py_ssize_t count = PyTuple_Size(steps);
  if (count < 0) throw PythonError();
  for (Py_ssize_t i = 0; i < count; ++i) {
    std::int64_t pair[2] = {};
    integers_of(PyTuple_GetItem(steps, i), pair, 2, "a step");
    add(pair[0], pair[1]);
  }
}

const Tensor& Call::place() const {
  for (const auto& tensor : tensors) {
    if (tensor->on_gpu()) return *tensor;
  }
  if (tensors.empty()) fail(RELAYOUT_INVALID_ARGUMENT, "one operand at least must be a tensor");
  return *tensors[0];
}

const std::vector<const char*>& operation_names() {
  static const std::vector<const char*> names = [] {
    std::vector<const char*> all;
    const char* name = nullptr;
    std::int32_t operands = 0;
    for (int i = 0; relayout_operation(i, &name, &operands) == RELAYOUT_OK; ++i) all.push_back(name);
    return all;
  }();
  return names;
}

void set_output(Call& call, PyObject* object) {
  Tensor* described = nullptr;
  if (PyTuple_Check(object) != 0) {
    const std::size_t before = call.tensors.size();
    read_codes(call, object, "out", call.out_operand);
    described = call.tensors[before].get();
  } else {
    described = &add_tensor(call, object, "out");
    call.out_operand.tensor = &described->dl;
  }
  check_writable(*described);
  call.out = described;
}

void Call::make_room(std::size_t count) {
  tensors.reserve(count + 1);
  inputs.reserve(count);
}

void read_call(PyObject* const* arguments, Py_ssize_t count, Call& call) {
  if (count != 5 || PyTuple_Check(arguments[2]) == 0)
    fail(PyExc_TypeError, "a call has five arguments, and operands are a tuple");
  PyObject *const steps = arguments[1], *const operands = arguments[2], *const out = arguments[3],
                  *const options = arguments[4];
  const std::int64_t op = integer_of(arguments[0]);
  if (op < 0 || op >= static_cast<int>(Op::count)) fail(PyExc_ValueError, "there is no such function");
  call.op = static_cast<Op>(op);
  read_options(options, call.options);
  read_steps(steps, call);
  const Py_ssize_t given = PyTuple_Size(operands);
  call.make_room(static_cast<std::size_t>(given));
  call.operands.reserve(static_cast<std::size_t>(given));
  for (Py_ssize_t i = 0; i < given; ++i)
    read_operand(call, static_cast<int>(i), PyTuple_GetItem(operands, i));
  if (out != Py_None) set_output(call, out);
  if (call.op == Op::permute) normalise_axes(call);
  check_dtype(call);
  make_key(call);
}

}  // namespace relayout::python
