// One call of an operation: what the user gave, as relayout.h takes it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bindings/python/src/tensor.hpp"

namespace relayout::python {

/// The operations that are no element-wise ones have these numbers; relayout/__init__.py has the same.
enum class Op : int {
  chain,
  permute,
  transpose,
  copy,
  cast,
  fill,
  quantized,
  quantize,
  dequantize,
  pad,
  img2col,
  rearrange_weights,
  depthwise_conv1d,
  depthwise_update,
  gemm,
  conv1d,
  depthwise_conv1d_backward,
  depthwise_varlen,
  depthwise_varlen_states,
  count
};

/// Everything that options may say, for all operations; plain bytes, so that it can be part of a key.
struct Options {
  relayout_copy_options copy;
  relayout_elementwise_options elementwise;
  relayout_pad_options pad;
  relayout_window_options window;
  std::int32_t axes[kMaxRank];
  std::int32_t axis_count;  ///< -1: not given
  std::int32_t silu, route;
  std::int32_t null_index, null_untouched;  ///< of sequences
  std::int64_t block_size;                  ///< of depthwise_varlen
  std::int64_t state_length;                ///< of depthwise_varlen_states
  relayout_dl_dtype dtype;  ///< of the result, where the output is made here; no bits: not given
};

/// A call, described. Tensors refer to the user's objects, which live as long as it does.
struct Call {
  Op op = Op::chain;
  Options options;
  std::vector<relayout_step> steps;
  std::vector<std::unique_ptr<Tensor>> tensors;  ///< all that were described
  std::vector<relayout_operand> operands;        ///< one for each operand; null tensors were left out
  std::vector<const Tensor*> inputs;             ///< those that relayout_run_on takes
  std::vector<const Tensor*> pinned;             ///< those that stay where they were planned
  const Tensor* out = nullptr;                   ///< null: made for every run
  relayout_operand out_operand{};                ///< of codes also where they are made
  CallStream stream;                             ///< of the first tensor on a GPU
  std::string key;                               ///< equal for calls that one plan can do

  /// So many inputs, and an output, then need no further memory but that of their tensors.
  void make_room(std::size_t count);
  /// The device that it runs on: the first tensor's.
  const Tensor& place() const;
  /// The stream that it works on; null for the processor.
  void* work_stream() const { return stream.value_or(nullptr); }
  /// The tensor whose kind a new output has.
  const Tensor& prototype() const { return inputs.empty() ? place() : *inputs[0]; }
};

/// Reads the arguments of the module's functions: op, steps, operands, out, options.
void read_call(PyObject* const* arguments, Py_ssize_t count, Call& call);
/// Sets the key of a call that is described.
void make_key(Call& call);
/// The steps of a chain: a number of an operation, or a tuple of (number, which operand is the running
/// value).
void read_steps(PyObject* steps, Call& call);
/// A number as an operand.
void read_constant(PyObject* object, relayout_operand& operand);
/// What holds where no options are given.
const Options& default_options();
/// Reads a dictionary of options, or None; TypeError for one that is unknown or that the function does not
/// take. A function of Python that names its options passes on all that it has.
void read_options(PyObject* dictionary, Options& options, Op op = Op::count);
/// The names of the element-wise operations, in their order.
const std::vector<const char*>& operation_names();

/// The type and shape of the output that the call would make.
struct ResultSpec {
  relayout_dl_dtype dtype{};
  int rank = 0;
  std::int64_t shape[kMaxRank] = {};
};
ResultSpec result_of(const Call& call);
/// The name of the type that a chain gives. Arguments: its steps, and a tuple of its operands: numbers, and
/// the names of tensors' types.
std::string chain_dtype(PyObject* arguments);

/// Makes `object` the call's output.
void set_output(Call& call, PyObject* object);

/// Bytes of the workspace that a depthwise_conv1d_backward needs; its own is not looked at.
std::uint64_t workspace_bytes(const Call& call, const relayout_device* device);

/// Plans the call, which has an output. `stream` is for conv1d, which prepares its weights on it.
relayout_status plan_call(const Call& call, const relayout_device* device, const relayout_stream* stream,
                          relayout_plan** plan);

}  // namespace relayout::python
