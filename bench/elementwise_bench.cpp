// Element-wise operations: contiguous, broadcast, transposed and sliced operands, types that mix, chains.
#include <relayout/elementwise.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/bench_case.hpp"
#include "bench/case_json.hpp"
#include "bench/functors.hpp"
#include "bench/rotation.hpp"
#include "core/bytes.hpp"

namespace relayout::bench {
namespace {

/// A tensor without gaps in memory, and the part of it that takes part, with its axes in another order.
struct Tensor {
  DType type;
  Dims shape;
  std::vector<int> axes = {};  // empty: in their order
  Dims begin = {}, end = {};   // empty: all of it

  TensorView view(const void* data) const {
    TensorView view(data, type, shape);
    for (std::size_t axis = 0; axis < begin.size(); ++axis)
      view = view.slice(static_cast<int>(axis), begin[axis], end[axis]);
    return axes.empty() ? view : view.permuted(axes);
  }
  std::int64_t bytes() const { return bytes_of(view(nullptr)); }
};

struct ElementwiseCase {
  std::string name;
  std::vector<Operation> operations;
  std::vector<Tensor> tensors;
  Tensor out;
  std::vector<double> constants = {};  // operands behind the tensors
  Precision precision = Precision::accurate;
  FunctorCall functor = nullptr;  // does the same; runs instead of the library

  /// memory: of the tensors, and of the output.
  void run(const Stream& stream, const std::vector<TensorView>& memory) const {
    std::vector<TensorView> views;
    for (std::size_t i = 0; i < tensors.size(); ++i) views.push_back(tensors[i].view(memory[i].data()));
    const TensorView result = out.view(memory.back().data());
    if (functor) return functor(stream, views, result);
    std::vector<relayout::Operand> operands(views.begin(), views.end());
    operands.insert(operands.end(), constants.begin(), constants.end());
    ElementwiseOptions options;
    options.cast_out = true;
    options.precision = precision;
    chain(stream, operations, operands, result, options);
  }
};

Json json_of(const Tensor& tensor) {
  return {{"type", name_of(tensor.type)},
          {"shape", tensor.shape},
          {"axes", tensor.axes},
          {"begin", tensor.begin},
          {"end", tensor.end}};
}

BenchCase bench_case(const ElementwiseCase& c) {
  std::vector<Operand> memory;
  std::int64_t bytes = c.out.bytes();
  Json json = {{"operation", "elementwise"}, {"functions", Json::array()}, {"operands", Json::array()}};
  std::string printed;
  for (const Operation operation : c.operations) {
    json["functions"].push_back(name_of(operation));
    printed += (printed.empty() ? "" : "+") + std::string(name_of(operation));
  }
  for (const Tensor& tensor : c.tensors) {
    memory.push_back(contiguous_operand(tensor.type, tensor.shape));
    bytes += tensor.bytes();
    json["operands"].push_back(json_of(tensor));
    printed += " " + tensor.view(nullptr).to_string();
  }
  json["constants"] = c.constants;
  json["out"] = json_of(c.out);
  json["out_type"] = name_of(c.out.type);
  memory.push_back(contiguous_operand(c.out.type, c.out.shape));
  printed += " -> " + c.out.view(nullptr).to_string();
  return {"elementwise", c.name, bytes, json, printed, [c, memory](const Stream& stream) {
            return prepare_rotated(
                stream, memory, [stream, c](const std::vector<TensorView>& views) { c.run(stream, views); });
          }};
}

/// The same case in every size: leading extents are divided by `down`, the others are what makes a case hard.
std::vector<ElementwiseCase> cases_of(std::int64_t down, std::int64_t side) {
  using D = DType;
  using O = Operation;
  const auto lead = [down](std::int64_t extent) { return std::max<std::int64_t>(extent / down, 2); };
  const auto flat = [&](D type, std::int64_t elements) { return Tensor{type, {lead(elements)}}; };
  const auto square = [side](D type) { return Tensor{type, {side, side}}; };
  const auto transposed = [side](D type) { return Tensor{type, {side, side}, {1, 0}}; };
  std::vector<ElementwiseCase> list;
  const auto binary = [&](const std::string& name, O operation, const Tensor& a, const Tensor& b,
                          const Tensor& out) {
    list.push_back({name, {operation}, {a, b}, out});
  };
  for (const D type : {D::f32, D::f16, D::bf16, D::i8, D::i32, D::f64}) {
    const Tensor t = flat(type, (std::int64_t{1} << 30) / bytes_of(type) / 2);
    binary(std::string("add_") + name_of(type), O::add, t, t, t);
  }
  binary("greater_f16", O::greater, flat(D::f16, 1 << 28), flat(D::f16, 1 << 28), flat(D::bool_, 1 << 28));
  binary("less_f32", O::less, flat(D::f32, 1 << 27), flat(D::f32, 1 << 27), flat(D::bool_, 1 << 27));
  binary("logical_and", O::logical_and, flat(D::bool_, 1 << 29), flat(D::bool_, 1 << 29),
         flat(D::bool_, 1 << 29));
  binary("maximum_f16_l2", O::maximum, flat(D::f16, 20480 * 1024), flat(D::f16, 20480 * 1024),
         flat(D::f16, 20480 * 1024));
  binary("f16_f32", O::add, flat(D::f16, 1 << 27), flat(D::f32, 1 << 27), flat(D::f32, 1 << 27));
  binary("bf16_f32", O::add, flat(D::bf16, 1 << 27), flat(D::f32, 1 << 27), flat(D::f32, 1 << 27));
  for (const D type : {D::f32, D::f16}) {
    const std::string name = name_of(type);
    const Tensor nchw{type, {lead(64), 256, 56, 56}}, nhwc{type, {lead(64), 56, 56, 256}};
    const Tensor wide{type, {lead(16384), side}};
    binary("nchw_bias_" + name, O::add, nchw, {type, {1, 256, 1, 1}}, nchw);
    binary("nhwc_bias_" + name, O::add, nhwc, {type, {256}}, nhwc);
    binary("row_" + name, O::add, wide, {type, {side}}, wide);
    binary("column_" + name, O::add, wide, {type, {lead(16384), 1}}, wide);
    binary("outer_" + name, O::add, {type, {lead(16384), 1}}, {type, {side}}, wide);
    list.push_back({"scalar_" + name, {O::mul}, {wide}, wide, {1.5}});
    binary("transposed_" + name, O::add, square(type), transposed(type), square(type));
    binary("transposed_first_" + name, O::sub, transposed(type), square(type), square(type));
  }
  const Tensor odd{D::f32, {lead(32), 128, 113, 113}};
  binary("nchw_odd_bias_f32", O::add, odd, {D::f32, {1, 128, 1, 1}}, odd);
  binary("all_transposed_f32", O::add, transposed(D::f32), transposed(D::f32), transposed(D::f32));
  const Tensor nchw{D::f16, {lead(64), 256, 56, 56}};
  binary("nchw_nhwc_f16", O::add, nchw, {D::f16, {lead(64), 56, 56, 256}, {0, 3, 1, 2}}, nchw);
  binary("middle_bf16", O::add, {D::bf16, {lead(64), 16, 2048, 128}}, {D::bf16, {lead(64), 1, 2048, 128}},
         {D::bf16, {lead(64), 16, 2048, 128}});
  binary("both_f32", O::mul, {D::f32, {lead(4096), 1, 8192}}, {D::f32, {1, 4, 8192}},
         {D::f32, {lead(4096), 4, 8192}});
  binary("rank7_f32", O::add, {D::f32, {lead(64), 1, 8, 1, 8, 1, 64}}, {D::f32, {1, 8, 1, 8, 1, 8, 64}},
         {D::f32, {lead(64), 8, 8, 8, 8, 8, 64}});
  binary("rank7_short_f32", O::add, {D::f32, {lead(512), 1, 8, 1, 8, 1, 8}}, {D::f32, {1, 8, 1, 8, 1, 8, 1}},
         {D::f32, {lead(512), 8, 8, 8, 8, 8, 8}});
  const std::int64_t rows = lead(12345);
  const Dims begin{1, 3}, end{rows + 1, 6792};
  binary("sliced_f32", O::add, {D::f32, {rows + 1, 6797}, {}, begin, end},
         {D::f32, {rows + 1, 6795}, {}, begin, end}, {D::f32, {rows, 6789}});
  binary("sliced_f16", O::add, {D::f16, {rows + 1, 6797}, {}, begin, end},
         {D::f16, {rows + 1, 6795}, {}, begin, end}, {D::f16, {rows, 6789}});
  binary("pitched_f32", O::add, {D::f32, {side, side + 8}, {}, {0, 0}, {side, side}}, square(D::f32),
         square(D::f32));
  for (const D type : {D::f32, D::f16}) {
    const Tensor rgb{type, {lead(256), 224, 224, 3}}, small_images{type, {lead(2048), 512, 7, 7}};
    binary(std::string("rgb_bias_") + name_of(type), O::add, rgb, {type, {3}}, rgb);
    binary(std::string("nchw_7x7_bias_") + name_of(type), O::add, small_images, {type, {1, 512, 1, 1}},
           small_images);
  }
  binary("pow_i32", O::pow, flat(D::i32, 1 << 26), flat(D::i32, 1 << 26), flat(D::i32, 1 << 26));
  binary("small_f32", O::add, {D::f32, {4096}}, {D::f32, {4096}}, {D::f32, {4096}});
  for (const O operation : {O::sqrt, O::exp, O::tanh, O::sigmoid, O::gelu, O::silu}) {
    for (const D type : {D::f32, D::f16})
      list.push_back({std::string(name_of(operation)) + "_" + name_of(type),
                      {operation},
                      {flat(type, 1 << 28)},
                      flat(type, 1 << 28)});
  }
  for (const O operation : {O::exp, O::tanh})
    list.push_back({std::string(name_of(operation)) + "_f32_approximate",
                    {operation},
                    {flat(D::f32, 1 << 28)},
                    flat(D::f32, 1 << 28),
                    {},
                    Precision::approximate});
  const Tensor nhwc{D::f16, {lead(64), 56, 56, 256}}, channels{D::f16, {256}};
  list.push_back({"bias_relu_f16", {O::add, O::relu}, {nhwc, channels}, nhwc});
  list.push_back(
      {"scale_shift_clip_f16", {O::mul, O::add, O::clip}, {nhwc, channels, channels}, nhwc, {-1, 1}});
  const auto functor = [&](const char* name, const char* same, FunctorCall call) {
    const auto found =
        std::find_if(list.begin(), list.end(), [&](const ElementwiseCase& c) { return c.name == same; });
    ElementwiseCase c = *found;
    c.name = name;
    c.functor = call;
    list.push_back(c);
  };
  functor("functor_add_f32", "add_f32", functor_add);
  functor("functor_bias_relu_f16", "bias_relu_f16", functor_bias_relu);
  functor("functor_scale_shift_clip_f16", "scale_shift_clip_f16", functor_scale_shift_clip);
  return list;
}

}  // namespace

BenchCases elementwise_cases(Sizes sizes) {
  const std::vector<ElementwiseCase> cases = sizes == Sizes::gpu   ? cases_of(1, 8192)
                                             : sizes == Sizes::cpu ? cases_of(16, 2048)
                                                                   : cases_of(1 << 20, 67);
  BenchCases list;
  for (const ElementwiseCase& c : cases) list.push_back(bench_case(c));
  return list;
}

}  // namespace relayout::bench
