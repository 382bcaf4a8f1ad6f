// The element-wise operations by name, chains of them, codes, and fill.
#include <algorithm>
#include <vector>

#include "bindings/c/src/handles.hpp"
#include "bindings/c/src/options.hpp"
#include "bindings/c/src/tensors.hpp"
#include "relayout/fill.hpp"
#include "relayout/operation.hpp"
#include "relayout/quantized.hpp"

using namespace relayout;
using c::guarded;
using c::planned;

namespace {

Operation operation_of(const char* name) {
  c::check_given(name, "operation");
  for (int i = 0; i < kOperations; ++i) {
    if (std::string(name) == name_of(static_cast<Operation>(i))) return static_cast<Operation>(i);
  }
  throw Error(ErrorCode::invalid_argument, "relayout has no operation '" + std::string(name) + "'");
}

template <class T>
void check_array(const T* array, int32_t count, const char* name) {
  if (count < 0) {
    throw Error(ErrorCode::invalid_argument, "the number of " + std::string(name) + " is negative");
  }
  if (count > 0) c::check_given(array, name);
}

Program program_of(const relayout_step* steps, int32_t count) {
  check_array(steps, count, "steps");
  std::vector<Step> made;
  for (int32_t i = 0; i < count; ++i) made.emplace_back(operation_of(steps[i].operation), steps[i].running);
  return Program(std::move(made));
}

QuantizedTensor codes_of(const Device& device, const relayout_operand& operand, const char* name) {
  QuantizedTensor codes{c::view_of(device, operand.tensor, name), operand.scale, operand.zero};
  if (operand.scales != nullptr) codes.scale = c::view_of(device, operand.scales, "scales");
  if (operand.zeros != nullptr) codes.zero = c::view_of(device, operand.zeros, "zeros");
  return codes;
}

Literal literal_of(const relayout_operand& operand, const char* name) {
  switch (operand.kind) {
    case RELAYOUT_OPERAND_FLOATING:
      return Literal(operand.floating);
    case RELAYOUT_OPERAND_INTEGER:
      return Literal(static_cast<long long>(operand.integer));
    case RELAYOUT_OPERAND_UNSIGNED:
      return Literal(static_cast<unsigned long long>(operand.integer));
    case RELAYOUT_OPERAND_BOOLEAN:
      return Literal(operand.integer != 0);
    default:
      throw Error(ErrorCode::invalid_argument, std::string(name) + " has the kind " +
                                                   std::to_string(operand.kind) + ", which is no constant");
  }
}

Operand operand_of(const Device& device, const relayout_operand& operand, const char* name) {
  if (operand.kind == RELAYOUT_OPERAND_TENSOR) return c::view_of(device, operand.tensor, name);
  if (operand.kind == RELAYOUT_OPERAND_CODES) return codes_of(device, operand, name);
  return literal_of(operand, name);
}

std::vector<Operand> operands_of(const Device& device, const relayout_operand* operands, int32_t count) {
  check_array(operands, count, "operands");
  std::vector<Operand> made;
  for (int32_t i = 0; i < count; ++i) {
    made.push_back(operand_of(device, operands[i], ("operand " + std::to_string(i)).c_str()));
  }
  return made;
}

Output output_of(const Device& device, const relayout_operand* out) {
  c::check_given(out, "out");
  if (out->kind == RELAYOUT_OPERAND_TENSOR) return c::view_of(device, out->tensor, "out");
  if (out->kind == RELAYOUT_OPERAND_CODES) return codes_of(device, *out, "out");
  throw Error(ErrorCode::invalid_argument,
              "out has the kind " + std::to_string(out->kind) + ", and must be a tensor or codes");
}

QuantizedTensor codes_only(const Device& device, const relayout_operand* operand, const char* name) {
  c::check_given(operand, name);
  if (operand->kind != RELAYOUT_OPERAND_CODES) {
    throw Error(ErrorCode::invalid_argument,
                std::string(name) + " has the kind " + std::to_string(operand->kind) + ", and must be codes");
  }
  return codes_of(device, *operand, name);
}

/// The shape that tensors among the operands give together.
Dims result_shape(const std::vector<Operand>& operands, Broadcasting broadcasting) {
  Dims shape;
  bool first = true;
  for (const Operand& operand : operands) {
    if (operand.is_literal()) continue;
    if (first || broadcasting == Broadcasting::numpy)
      shape = first ? operand.tensor().shape() : broadcast_shapes(shape, operand.tensor().shape());
    first = false;
  }
  return shape;
}

}  // namespace

extern "C" {

relayout_status relayout_operation(int32_t index, const char** name, int32_t* operands) {
  return guarded([&] {
    c::check_given(name, "name");
    c::check_given(operands, "operands");
    const auto operation = c::enumerator<Operation>(index, kOperations, "index");
    *name = name_of(operation);
    *operands = relayout::operands_of(operation);
  });
}

relayout_status relayout_elementwise(const relayout_stream* stream, const char* operation,
                                     const relayout_operand* operands, int32_t operand_count,
                                     const relayout_operand* out,
                                     const relayout_elementwise_options* options) {
  const relayout_step step = {operation, 0, 0};
  return relayout_chain(stream, &step, 1, operands, operand_count, out, options);
}

relayout_status relayout_plan_elementwise(const relayout_device* device, const char* operation,
                                          const relayout_operand* operands, int32_t operand_count,
                                          const relayout_operand* out,
                                          const relayout_elementwise_options* options, relayout_plan** plan) {
  const relayout_step step = {operation, 0, 0};
  return relayout_plan_chain(device, &step, 1, operands, operand_count, out, options, plan);
}

relayout_status relayout_chain(const relayout_stream* stream, const relayout_step* steps, int32_t step_count,
                               const relayout_operand* operands, int32_t operand_count,
                               const relayout_operand* out, const relayout_elementwise_options* options) {
  return guarded([&] {
    const Stream& on = c::stream_of(stream);
    chain(on, program_of(steps, step_count), ::operands_of(on.device(), operands, operand_count),
          output_of(on.device(), out), c::elementwise_options(options));
  });
}

relayout_status relayout_plan_chain(const relayout_device* device, const relayout_step* steps,
                                    int32_t step_count, const relayout_operand* operands,
                                    int32_t operand_count, const relayout_operand* out,
                                    const relayout_elementwise_options* options, relayout_plan** plan) {
  return planned(plan, [&] {
    const Device& on = c::device_of(device);
    return plan_chain(on, program_of(steps, step_count), ::operands_of(on, operands, operand_count),
                      output_of(on, out), c::elementwise_options(options));
  });
}

relayout_status relayout_chain_result(const relayout_step* steps, int32_t step_count,
                                      const relayout_operand* operands, int32_t operand_count,
                                      const relayout_elementwise_options* options, relayout_dl_dtype* dtype,
                                      int32_t* ndim, int64_t* shape) {
  return guarded([&] {
    c::check_given(dtype, "dtype");
    c::check_given(ndim, "ndim");
    c::check_given(shape, "shape");
    // The rules ask only for types and shapes, so the operands count as the processor's, wherever they lie.
    static const Device device = Device::cpu();
    check_array(operands, operand_count, "operands");
    std::vector<relayout_operand> moved(operands, operands + operand_count);
    std::vector<relayout_tensor> tensors;
    tensors.reserve(moved.size() * 3);
    for (relayout_operand& operand : moved) {
      for (const relayout_tensor** tensor : {&operand.tensor, &operand.scales, &operand.zeros}) {
        if (*tensor == nullptr) continue;
        tensors.push_back(**tensor);
        tensors.back().device = {RELAYOUT_DL_CPU, 0};
        *tensor = &tensors.back();
      }
    }
    const std::vector<Operand> given = ::operands_of(device, moved.data(), operand_count);
    ElementwiseOptions asked = c::elementwise_options(options);
    asked.cast_out = true;  // so that any output does
    asked.cast = {};
    const Dims extents = result_shape(given, asked.broadcasting);
    const ElementwisePlan plan = plan_chain(device, program_of(steps, step_count), given,
                                            TensorView(nullptr, DType::f32, extents), asked);
    *dtype = c::dtype_in_dlpack(plan.result_type());
    *ndim = static_cast<int32_t>(extents.size());
    std::copy(extents.begin(), extents.end(), shape);
  });
}

relayout_status relayout_quantized(const relayout_stream* stream, const char* operation,
                                   const relayout_operand* operands, int32_t operand_count,
                                   const relayout_operand* out) {
  return guarded([&] {
    const Stream& on = c::stream_of(stream);
    quantized(on, operation_of(operation), ::operands_of(on.device(), operands, operand_count),
              output_of(on.device(), out));
  });
}

relayout_status relayout_plan_quantized(const relayout_device* device, const char* operation,
                                        const relayout_operand* operands, int32_t operand_count,
                                        const relayout_operand* out, relayout_plan** plan) {
  return planned(plan, [&] {
    const Device& on = c::device_of(device);
    return plan_quantized(on, operation_of(operation), ::operands_of(on, operands, operand_count),
                          output_of(on, out));
  });
}

relayout_status relayout_quantize(const relayout_stream* stream, const relayout_tensor* in,
                                  const relayout_operand* out) {
  return guarded([&] {
    const Stream& on = c::stream_of(stream);
    quantize(on, c::view_of(on.device(), in, "in"), codes_only(on.device(), out, "out"));
  });
}

relayout_status relayout_plan_quantize(const relayout_device* device, const relayout_tensor* in,
                                       const relayout_operand* out, relayout_plan** plan) {
  return planned(plan, [&] {
    const Device& on = c::device_of(device);
    return plan_quantize(on, c::view_of(on, in, "in"), codes_only(on, out, "out"));
  });
}

relayout_status relayout_dequantize(const relayout_stream* stream, const relayout_operand* in,
                                    const relayout_tensor* out) {
  return guarded([&] {
    const Stream& on = c::stream_of(stream);
    dequantize(on, codes_only(on.device(), in, "in"), c::view_of(on.device(), out, "out"));
  });
}

relayout_status relayout_plan_dequantize(const relayout_device* device, const relayout_operand* in,
                                         const relayout_tensor* out, relayout_plan** plan) {
  return planned(plan, [&] {
    const Device& on = c::device_of(device);
    return plan_dequantize(on, codes_only(on, in, "in"), c::view_of(on, out, "out"));
  });
}

relayout_status relayout_fill(const relayout_stream* stream, const relayout_operand* value,
                              const relayout_tensor* out, const relayout_copy_options* options) {
  return guarded([&] {
    const Stream& on = c::stream_of(stream);
    c::check_given(value, "value");
    fill(on, literal_of(*value, "value"), c::view_of(on.device(), out, "out"), c::copy_options(options).cast);
  });
}

relayout_status relayout_plan_fill(const relayout_device* device, const relayout_operand* value,
                                   const relayout_tensor* out, const relayout_copy_options* options,
                                   relayout_plan** plan) {
  return planned(plan, [&] {
    const Device& on = c::device_of(device);
    c::check_given(value, "value");
    return plan_fill(on, literal_of(*value, "value"), c::view_of(on, out, "out"),
                     c::copy_options(options).cast);
  });
}

}  // extern "C"
