// Casts, transposes and both in one pass.
#include "bench/bench_case.hpp"
#include "bench/case_json.hpp"
#include "bench/rotation.hpp"

namespace relayout::bench {
namespace {

using cases::CastCase;
using cases::Layout;

BenchCase cast_case(const CastCase& c) {
  const Operand in{c.in_type, c.shape, cases::strides_of(c.in_layout, c.shape)};
  const Operand out{c.out_type, c.shape, cases::strides_of(c.out_layout, c.shape)};
  const std::string name = std::string(name_of(c.in_type)) + "-" + name_of(c.out_type) +
                           (c.in_layout == c.out_layout ? "/" : "-transposed/") + joined(c.shape);
  return {
      "cast", name, in.bytes() + out.bytes(), parameters_of(c), printed(c), [in, out](const Stream& stream) {
        return prepare_rotated(stream, {in, out}, [stream](const std::vector<TensorView>& views) {
          cast(stream, views[0], views[1]);
        });
      }};
}

CastCase of(DType in, DType out, const Dims& shape, Layout out_layout) {
  CastCase c;
  c.in_type = in;
  c.out_type = out;
  c.shape = shape;
  c.out_layout = out_layout;
  return c;
}

}  // namespace

BenchCases cast_cases(Sizes sizes) {
  const Dims signal = sizes == Sizes::gpu   ? Dims{8, 2048, 8192}
                      : sizes == Sizes::cpu ? Dims{8, 512, 4096}
                                            : Dims{2, 33, 65};
  const Dims matrix = sizes == Sizes::gpu   ? Dims{8192, 8192}
                      : sizes == Sizes::cpu ? Dims{4096, 4096}
                                            : Dims{70, 35};
  const Dims large = sizes == Sizes::gpu   ? Dims{16384, 16384}
                     : sizes == Sizes::cpu ? Dims{2048, 8192}
                                           : Dims{40, 72};
  const Dims odd = sizes == Sizes::gpu   ? Dims{12345, 6789}
                   : sizes == Sizes::cpu ? Dims{3087, 3395}
                                         : Dims{37, 51};
  return {cast_case(of(DType::f32, DType::f16, signal, Layout::ncl)),
          cast_case(of(DType::f32, DType::f16, signal, Layout::nlc)),
          cast_case(of(DType::f32, DType::f16, matrix, Layout::nlc)),
          cast_case(of(DType::f32, DType::f16, large, Layout::nlc)),
          cast_case(of(DType::f32, DType::f16, odd, Layout::nlc)),
          cast_case(of(DType::u8, DType::f32, signal, Layout::ncl)),
          cast_case(of(DType::f32, DType::u8, signal, Layout::ncl)),
          cast_case(of(DType::u8, DType::f16, matrix, Layout::nlc)),
          cast_case(of(DType::f32, DType::f32, matrix, Layout::nlc)),
          cast_case(of(DType::f16, DType::f16, matrix, Layout::nlc)),
          cast_case(of(DType::f16, DType::f16, signal, Layout::nlc))};
}

}  // namespace relayout::bench
