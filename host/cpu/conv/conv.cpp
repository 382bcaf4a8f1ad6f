// A whole convolution: a GEMM whose rows are gathered from the input while they are multiplied.
#include <algorithm>
#include <cstring>

#include "core/pad_index.hpp"
#include "host/cpu/conv/gemm_rows.hpp"
#include "host/cpu/convert.hpp"
#include "host/cpu/copy/dispatch.hpp"
#include "host/cpu/native_table.hpp"

namespace relayout::native {
namespace {

/// Rows of A as the GEMM sees it. Row b * positions + t holds the samples under the taps of position t,
/// rounded to T: `depth` elements for each tap, of which those beyond the channels are 0.
template <class From, class T>
class SampleRows final : public GemmRows {
 public:
  explicit SampleRows(const ConvParams& params) : p_(params) {
    std::memcpy(&padding_, &params.pad_bits, sizeof(T));
  }

  void load(std::int64_t group, std::int64_t row, std::int64_t rows, std::int64_t k, std::int64_t depth,
            float (*panel)[kPanelDepth]) const override {
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t batch = (row + r) / p_.positions, position = (row + r) % p_.positions;
      const From* in =
          static_cast<const From*>(p_.in) + batch * p_.in_batch + group * p_.channels * p_.in_channel;
      for (std::int64_t i = 0; i < depth;) {
        const std::int64_t tap = (k + i) / p_.depth, channel = (k + i) % p_.depth;
        const std::int64_t count = std::min(depth - i, p_.depth - channel);
        const std::int64_t time = position * p_.stride + tap * p_.dilation - p_.pad_left;
        load_tap(in, time, channel, count, panel[r] + i);
        i += count;
      }
    }
  }

 private:
  void load_tap(const From* in, std::int64_t time, std::int64_t channel, std::int64_t count,
                float* out) const {
    const std::int64_t filled = std::clamp<std::int64_t>(p_.channels - channel, 0, count);
    const std::int64_t source = pad_index(p_.mode, time, p_.length, p_.reflect_length);
    if (source < 0) {
      std::fill_n(out, filled, convert<float>(padding_));
    } else {
      const From* column = in + source * p_.in_time + channel * p_.in_channel;
      for (std::int64_t c = 0; c < filled; ++c)
        out[c] = convert<float>(convert<T>(column[c * p_.in_channel]));
    }
    std::fill_n(out + filled, count - filled, 0.0f);
  }

  const ConvParams& p_;
  T padding_{};
};

}  // namespace

void conv(const LaunchContext& /*context*/, const ConvParams& p) {
  GemmParams gemm;
  gemm.bt = p.bt;
  gemm.bias = p.bias;
  gemm.y = p.out;
  gemm.in_type = gemm.out_type = p.out_type;
  gemm.groups = p.groups;
  gemm.m = p.batch * p.positions;
  gemm.n = gemm.bias_group = p.columns;
  gemm.k = gemm.ldb = p.taps * p.depth;
  gemm.ldc = p.out_position;
  gemm.b_group = p.columns * gemm.ldb;
  gemm.y_group = p.out_group;
  const auto run = [&](auto to, auto from) {
    using T = typename decltype(to)::type;
    using From = typename decltype(from)::type;
    gemm_of_rows(gemm, SampleRows<From, T>(p));
  };
  if (p.out_type == DType::f16) return with_output_type<f16>(p.in_type, run);
  return with_output_type<bf16>(p.in_type, run);
}

}  // namespace relayout::native
