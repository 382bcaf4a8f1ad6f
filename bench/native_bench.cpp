// The cases by which the processor's own code is judged: permutations of 64 MB and more, read and written
// together, cast + transpose, img2col. Only a processor has these rows; a few small ones test the tool.
#include <algorithm>
#include <cmath>

#include "bench/bench_case.hpp"
#include "bench/rotation.hpp"
#include "bench/shape_text.hpp"
#include "bench/ttc_permutations.hpp"

namespace relayout::bench {
namespace {

BenchCase permutation_case(const std::string& name, DType in_type, DType out_type, const Permutation& p) {
  Operand in{in_type, {}, {}};
  const Dims strides = contiguous_strides(p.shape);
  for (const int axis : p.axes) {
    in.shape.push_back(p.shape[static_cast<std::size_t>(axis)]);
    in.strides.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  const Operand out = contiguous_operand(out_type, in.shape);
  // For another program it is a copy of a strided view.
  const Json parameters = {{"operation", "copy"},
                           {"in_type", relayout::name_of(in_type)},
                           {"out_type", relayout::name_of(out_type)},
                           {"shape", in.shape},
                           {"in_strides", in.strides}};
  const std::string printed_case = "permute " + joined(p.shape) + " by " +
                                   to_string(Dims(p.axes.begin(), p.axes.end())) + " " +
                                   relayout::name_of(in_type) + " to " + relayout::name_of(out_type);
  return {
      "native", name, in.bytes() + out.bytes(), parameters, printed_case, [in, out](const Stream& stream) {
        return prepare_rotated(stream, {in, out}, [stream](const std::vector<TensorView>& views) {
          cast(stream, views[0], views[1]);
        });
      }};
}

BenchCase transpose_case(DType in, DType out, const Dims& shape) {
  const std::string types =
      in == out ? relayout::name_of(in) : std::string(relayout::name_of(in)) + "-" + relayout::name_of(out);
  const std::vector<int> axes = shape.size() == 2 ? std::vector<int>{1, 0} : std::vector<int>{0, 2, 1};
  return permutation_case("transposed-" + types + "/" + joined(shape), in, out, {shape, axes});
}

/// The same proportions with about this many bytes of f32.
Permutation scaled(Permutation p, double bytes) {
  double elements = 1;
  for (const std::int64_t extent : p.shape) elements *= static_cast<double>(extent);
  const double factor = std::pow(bytes / 4 / elements, 1 / static_cast<double>(p.shape.size()));
  for (std::int64_t& extent : p.shape)
    extent = std::max<std::int64_t>(2, std::llround(static_cast<double>(extent) * factor));
  return p;
}

BenchCases small_cases() {
  return {transpose_case(DType::f32, DType::f32, {33, 70}),
          permutation_case("permuted/3x9x20x5", DType::f16, DType::f16, {{3, 9, 20, 5}, {3, 1, 0, 2}})};
}

}  // namespace

BenchCases native_cases(Sizes sizes) {
  if (sizes == Sizes::gpu) return {};
  if (sizes == Sizes::smoke) return small_cases();
  BenchCases list{transpose_case(DType::f32, DType::f16, {8, 1024, 4096}),
                  transpose_case(DType::f32, DType::f16, {6007, 4801}),
                  transpose_case(DType::u8, DType::u8, {8192, 12288}),
                  transpose_case(DType::u8, DType::u8, {9001, 10007}),
                  transpose_case(DType::f16, DType::f16, {8192, 8192}),
                  transpose_case(DType::f16, DType::f16, {8, 1024, 6000}),
                  transpose_case(DType::f16, DType::f16, {6007, 9001}),
                  transpose_case(DType::f32, DType::f32, {4096, 6144}),
                  transpose_case(DType::f32, DType::f32, {8192, 4096}),
                  transpose_case(DType::f32, DType::f32, {6007, 4801}),
                  transpose_case(DType::f64, DType::f64, {4096, 3072}),
                  transpose_case(DType::f64, DType::f64, {3001, 4007})};
  constexpr double kBytes = 48e6;
  int number = 0;
  for (const Permutation& p : ttc_permutations()) {
    const std::string name = "ttc-" + std::to_string(100 + ++number).substr(1);
    list.push_back(permutation_case(name, DType::f32, DType::f32, scaled(p, kBytes)));
  }
  return list;
}

}  // namespace relayout::bench
