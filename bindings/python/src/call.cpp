#include "bindings/python/src/call.hpp"

#include <cstring>

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

/// The name of an operand, for messages.
std::string operand_name(Op op, int i) {
  switch (op) {
    case Op::chain:
    case Op::quantized:
      return "operand " + std::to_string(i);
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

Tensor& add_tensor(Call& call, PyObject* object, const std::string& name) {
  call.tensors.emplace_back(new Tensor);  // without setting shape and strides, of which few are used
  describe(object, name.c_str(), *call.tensors.back());
  return *call.tensors.back();
}

/// A scale or a zero point: a number, or a tensor, which stays where it was planned.
template <class Number>
void read_code_number(Call& call, PyObject* object, const std::string& name, Number& number,
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
const Tensor& read_codes(Call& call, PyObject* tuple, const std::string& name, relayout_operand& operand) {
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
  const std::string name = operand_name(call.op, i);
  const bool is_moved = all_move(call.op) || moves(call.op, i);
  if (PyFloat_Check(object) != 0 || PyLong_Check(object) != 0) {
    read_constant(object, operand);
  } else if (PyTuple_Check(object) != 0) {
    call.inputs.push_back(&read_codes(call, object, name, operand));
  } else if (object != Py_None || !is_optional(call.op, i)) {
    const Tensor& described = add_tensor(call, object, name);
    operand.tensor = &described.dl;
    if (is_written(call.op, i) && described.read_only)
      fail(RELAYOUT_INVALID_ARGUMENT, name + " is read-only, and nothing was written to it");
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

template <class T>
void append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Type, place, extents, strides, and how far the address is from the last multiple of 16.
void append_layout(std::string& key, const Tensor& tensor) {
  append(key, tensor.dl.dtype);
  append(key, tensor.dl.device);
  append(key, tensor.dl.ndim);
  const std::size_t bytes = sizeof(std::int64_t) * static_cast<std::size_t>(tensor.dl.ndim);
  key.append(reinterpret_cast<const char*>(tensor.shape), bytes);
  key.append(reinterpret_cast<const char*>(tensor.strides), bytes);
  append(key, static_cast<char>(reinterpret_cast<std::uintptr_t>(tensor.data()) % 16));
}

void append_operand(std::string& key, const relayout_operand& operand) {
  append(key, operand.kind);
  append(key, operand.zero);
  append(key, operand.scale);
  append(key, operand.floating);
  append(key, operand.integer);
  append(key, static_cast<char>((operand.tensor != nullptr) + 2 * (operand.scales != nullptr) +
                                4 * (operand.zeros != nullptr)));
}

void make_key(Call& call) {
  std::string& key = call.key;
  key.reserve(512);
  append(key, call.op);
  // Most calls have no options, and short keys are found sooner.
  const bool defaults = std::memcmp(&call.options, &default_options(), sizeof call.options) == 0;
  append(key, defaults);
  if (!defaults) append(key, call.options);
  for (const relayout_step& step : call.steps) {
    append(key, step.operation);  // names are constants of the library: equal ones have one address
    append(key, step.running);
  }
  for (const relayout_operand& operand : call.operands) append_operand(key, operand);
  for (const Tensor* tensor : call.inputs) append_layout(key, *tensor);
  for (const Tensor* tensor : call.pinned) {
    append_layout(key, *tensor);
    append(key, tensor->data());
  }
  // What is planned for an update in place does not depend on the address, but on both being one.
  const bool in_place = call.op == Op::depthwise_update && call.out != nullptr && !call.inputs.empty() &&
                        call.out->data() == call.inputs[0]->data();
  append(key, in_place ? 'p' : call.out != nullptr ? 'o' : 'n');
  if (call.out != nullptr) append_layout(key, *call.out);
  if (call.out_operand.kind == RELAYOUT_OPERAND_CODES) append_operand(key, call.out_operand);
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

void read_call(PyObject* arguments, Call& call) {
  int op = 0;
  PyObject *steps = nullptr, *operands = nullptr, *out = nullptr, *options = nullptr;
  if (PyArg_ParseTuple(arguments, "iOO!OO", &op, &steps, &PyTuple_Type, &operands, &out, &options) == 0)
    throw PythonError();
  if (op < 0 || op >= static_cast<int>(Op::count)) fail(PyExc_ValueError, "there is no such function");
  call.op = static_cast<Op>(op);
  read_options(options, call.options);
  read_steps(steps, call);
  for (Py_ssize_t i = 0; i < PyTuple_Size(operands); ++i)
    read_operand(call, static_cast<int>(i), PyTuple_GetItem(operands, i));
  if (out != Py_None) set_output(call, out);
  if (call.op == Op::permute) normalise_axes(call);
  check_dtype(call);
  make_key(call);
}

}  // namespace relayout::python
