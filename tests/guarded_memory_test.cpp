// Every family of kernels on memory that ends at a page which nobody may touch, before the first byte or
// behind the last: who reads or writes beyond falls. The sizes lie around the blocks of native code and the
// tiles of kernels.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "host/reference/depthwise_backward.hpp"
#include "host/reference/img2col.hpp"
#include "host/reference/pad.hpp"
#include "host/reference/permute.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/fill.hpp"
#include "tests/support/guarded_memory.hpp"

namespace relayout::test {
namespace {

/// A tensor that fills its memory from one guarded end to the other, or nearly.
class GuardedTensor {
 public:
  GuardedTensor(DType type, const Dims& shape, const Dims& strides, GuardedEnd end, int salt)
      : bytes_(bytes_of(type, shape, strides)),
        memory_(std::make_shared<GuardedMemory>(bytes_, end)),
        view_(memory_->data(), type, shape, strides) {
    std::int64_t i = salt;
    reference::for_each_index(shape, [&](const Dims& index) {
      reference::store_bits(view_, index, reference::encode(type, static_cast<double>(i = (i * 7 + 3) % 61)));
    });
  }
  const TensorView& view() const { return view_; }
  /// The bytes, and the same view over a copy of them.
  std::vector<unsigned char> bytes() const {
    return std::vector<unsigned char>(memory_->data(), memory_->data() + bytes_);
  }
  TensorView view_of(std::vector<unsigned char>& bytes) const {
    return TensorView(bytes.data(), view_.dtype(), view_.shape(), view_.strides());
  }

 private:
  static std::size_t bytes_of(DType type, const Dims& shape, const Dims& strides) {
    return static_cast<std::size_t>(TensorView(nullptr, type, shape, strides).byte_range().end);
  }
  std::size_t bytes_;
  std::shared_ptr<GuardedMemory> memory_;
  TensorView view_;
};

class GuardedMemoryTest : public DeviceTest {
 protected:
  template <class Case>
  void at_both_ends(const Case& run) {
    for (const GuardedEnd end : {GuardedEnd::before_first, GuardedEnd::behind_last}) run(end);
  }
  /// Sizes for all devices, and further ones around the blocks of native code.
  std::vector<Dims> sizes(std::vector<Dims> all, const std::vector<Dims>& native) const {
    if (is_native()) all.insert(all.end(), native.begin(), native.end());
    return all;
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, GuardedMemoryTest, ::testing::ValuesIn(host_memory_devices()),
                         device_test_name);

TEST_P(GuardedMemoryTest, Copies) {
  const std::vector<std::pair<DType, DType>> types{
      {DType::u8, DType::u8},   {DType::f16, DType::f16},  {DType::f32, DType::f32}, {DType::f64, DType::f64},
      {DType::f32, DType::f16}, {DType::bf16, DType::f64}, {DType::i32, DType::f32}, {DType::f32, DType::u8}};
  for (const auto& [from, to] : types) {
    for (const Dims& shape :
         sizes({{1, 1, 7}, {1, 5, 33}, {3, 31, 9}, {2, 65, 17}, {1, 1, 259}},
               {{1, 63, 65}, {2, 65, 129}, {1, 1, 1023}, {1, 3, 1025}, {1, 129, 257}, {5, 1, 4097}})) {
      for (const std::vector<int>& axes : {std::vector<int>{0, 1, 2}, {0, 2, 1}, {2, 1, 0}}) {
        at_both_ends([&, from = from, to = to](GuardedEnd end) {
          const GuardedTensor in(from, shape, contiguous_strides(shape), end, 1);
          const Dims moved = in.view().permuted(axes).shape();
          const GuardedTensor out(to, moved, contiguous_strides(moved), end, 2);
          std::vector<unsigned char> expected = out.bytes();
          reference::permute(in.view(), axes, out.view_of(expected));
          permute(stream(), in.view(), axes, out.view());
          ASSERT_EQ(out.bytes(), expected) << in.view().to_string() << " to " << out.view().to_string();
        });
      }
    }
  }
}

/// Contiguous, and channels last.
std::vector<Dims> signal_strides(const Dims& shape) {
  return {contiguous_strides(shape), {shape[1] * shape[2], 1, shape[1]}};
}

TEST_P(GuardedMemoryTest, Windows) {
  for (const DType type : {DType::u8, DType::f16, DType::f32}) {
    for (const Dims& shape : sizes({{1, 3, 5}, {2, 8, 33}, {1, 17, 9}, {3, 1, 40}},
                                   {{1, 1, 4097}, {1, 3, 1025}, {1, 65, 255}, {2, 257, 9}})) {
      for (const Dims& strides : signal_strides(shape)) {
        at_both_ends([&](GuardedEnd end) {
          const GuardedTensor in(type, shape, strides, end, 3);
          PadSpec spec;
          spec.left = 3;
          spec.right = 2;
          spec.mode = PadMode::reflect;
          const Dims padded{shape[0], shape[1], shape[2] + 5};
          for (const Dims& out_strides : signal_strides(padded)) {
            const GuardedTensor out(type, padded, out_strides, end, 4);
            std::vector<unsigned char> expected = out.bytes();
            reference::pad(in.view(), spec, out.view_of(expected));
            pad(stream(), in.view(), spec, out.view());
            ASSERT_EQ(out.bytes(), expected)
                << "pad " << in.view().to_string() << " to " << out.view().to_string();
          }
          Window window;
          window.taps = 3;
          window.stride = 2;
          for (const ColumnOrder order : {ColumnOrder::tap_outer, ColumnOrder::channel_outer}) {
            window.order = order;
            const Dims operand{shape[0] * output_length(shape[2], window, spec), 3 * shape[1]};
            const GuardedTensor out(type, operand, contiguous_strides(operand), end, 5);
            std::vector<unsigned char> expected = out.bytes();
            reference::img2col(in.view(), window, spec, out.view_of(expected));
            img2col(stream(), in.view(), window, spec, out.view());
            ASSERT_EQ(out.bytes(), expected) << "img2col " << in.view().to_string();
          }
        });
      }
    }
  }
}

TEST_P(GuardedMemoryTest, Depthwise) {
  for (const DType type : {DType::f16, DType::f32}) {
    for (const Dims& shape :
         sizes({{1, 2, 7}, {2, 9, 33}, {1, 16, 18}, {1, 33, 5}},
               {{1, 2, 1023}, {1, 2, 1025}, {1, 17, 1025}, {1, 255, 9}, {1, 257, 9}, {1, 1, 2049}})) {
      // The oracle takes long for many taps of many samples.
      const bool many_taps = is_native() && shape[1] * shape[2] < 300;
      for (const std::int64_t taps : many_taps ? Dims{1, 4, 9, 255, 257} : Dims{1, 4, 9}) {
        for (const Dims& strides : signal_strides(shape)) {
          at_both_ends([&](GuardedEnd end) {
            // Rows of many taps that lie as those of the output do are read otherwise than those that do not.
            const GuardedEnd out_end = taps == 9 ? GuardedEnd::before_first : end;
            const GuardedTensor in(type, shape, strides, end, 6), out(type, shape, strides, out_end, 7),
                weights(DType::f32, {shape[1], taps}, {taps, 1}, end, 8),
                bias(DType::f32, {shape[1]}, {1}, end, 9);
            const Dims columns{shape[0], shape[1], taps - 1};
            const GuardedTensor state(type, columns, contiguous_strides(columns), end, 10);
            reference::DepthwiseOperands operands;
            operands.in = in.view();
            operands.weights = weights.view();
            operands.bias = bias.view();
            std::vector<unsigned char> expected = state.bytes();
            reference::depthwise_final_state(operands, state.view_of(expected));
            depthwise_conv1d(stream(), in.view(), weights.view(), bias.view(), Activation::none, TensorView(),
                             out.view(), state.view());
            const reference::GemmCheck gates = reference::check_depthwise(operands, out.view());
            ASSERT_TRUE(gates.bound_ok()) << in.view().to_string() << " taps " << taps;
            ASSERT_EQ(state.bytes(), expected) << in.view().to_string() << " taps " << taps;
            depthwise_update(stream(), state.view(), in.view(), weights.view(), bias.view(), Activation::silu,
                             out.view());
          });
        }
      }
    }
  }
}

/// Any numbers of the sequences: rows that are not there, samples that are not there, ends before begins.
class GuardedNumbers {
 public:
  GuardedNumbers(std::int64_t count, std::uint64_t seed, const std::vector<std::int64_t>& pool,
                 GuardedEnd end)
      : memory_(static_cast<std::size_t>(count) * 4, end), view_(memory_.data(), DType::i32, {count}) {
    for (std::int64_t i = 0; i < count; ++i)
      reference::store_bits(
          view_, {i},
          static_cast<std::uint64_t>(pool[hash(static_cast<std::uint64_t>(i), seed) % pool.size()]));
  }
  const TensorView& view() const { return view_; }

 private:
  GuardedMemory memory_;
  TensorView view_;
};

/// What the numbers mean is undefined here; that nothing is touched outside the operands is not.
TEST_P(GuardedMemoryTest, DepthwiseSequences) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sequences that share rows and samples race";
#endif
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max(), kBatch = 5, kTotal = 41, kSlots = 6;
  const std::vector<std::int64_t> rows{0, 1, 2, 3, 4, 5, kSlots, kSlots + 1, -1, -kSlots, kMax, -kMax - 1},
      times{0, 1, 3, 17, 30, kTotal - 1, kTotal, kTotal + 1, -1, kMax, -kMax - 1};
  std::uint64_t seed = 0;
  for (const DType type : {DType::f16, DType::f32})
    for (const std::int64_t taps : {1, 4, 9})
      for (const std::int64_t channels : {5, 8})
        for (const bool channels_fast : {false, true})
          at_both_ends([&](GuardedEnd end) {
            const auto strides = [&](const Dims& shape) {
              Dims steps = contiguous_strides(shape);
              const std::size_t time = shape.size() - 1;
              if (channels_fast) {
                steps[time] = channels;
                steps[time - 1] = 1;
              }
              return steps;
            };
            const auto tensor = [&](const Dims& shape, int salt) {
              return GuardedTensor(type, shape, strides(shape), end, salt);
            };
            const GuardedTensor in = tensor({channels, kTotal}, 6), out = tensor({channels, kTotal}, 7),
                                samples = tensor({kBatch, channels, 3}, 8),
                                results = tensor({kBatch, channels, 3}, 9),
                                states = tensor({kSlots, channels, taps - 1}, 10),
                                wide = tensor({kSlots, channels, taps + 2}, 11),
                                weights(DType::f32, {channels, taps}, {taps, 1}, end, 12);
            for (int turn = 0; turn < 6; ++turn) {
              const GuardedNumbers indices(kBatch, ++seed, rows, end),
                  starts(kBatch + 1, seed + 100, times, end), numbers(kBatch, seed + 200, times, end);
              const TensorView flags(indices.view().data(), DType::u8, {kBatch}, {4});
              DepthwiseVarlenOptions options;
              options.state_indices = indices.view();
              options.has_initial_state = flags;
              depthwise_varlen(stream(), in.view(), starts.view(), weights.view(), TensorView(),
                               Activation::none, states.view(), out.view(), options);
              depthwise_varlen_states(stream(), in.view(), starts.view(), states.view().slice(0, 0, kBatch));
              DepthwiseUpdateOptions update;
              update.state_indices = indices.view();
              for (int mode = 0; mode < 3; ++mode) {
                update.cache_seqlens = mode == 1 ? numbers.view() : TensorView();
                update.num_accepted_tokens = mode == 2 ? numbers.view() : TensorView();
                update.query_start_loc = TensorView();
                depthwise_update(stream(), wide.view(), samples.view(), weights.view(), TensorView(),
                                 Activation::none, results.view(), update);
                update.query_start_loc = starts.view();
                depthwise_update(stream(), wide.view(), in.view(), weights.view(), TensorView(),
                                 Activation::none, out.view(), update);
              }
            }
          });
}

TEST_P(GuardedMemoryTest, DepthwiseBackward) {
  for (const DType type : {DType::f16, DType::f32}) {
    for (const Dims& shape : sizes({{1, 2, 7}, {2, 9, 33}, {1, 16, 18}, {1, 33, 5}, {1, 3, 130}},
                                   {{1, 2, 1023}, {1, 2, 1025}, {1, 17, 1025}, {1, 257, 9}})) {
      for (const std::int64_t taps : {1, 4, 9}) {
        for (const Dims& strides : signal_strides(shape)) {
          at_both_ends([&](GuardedEnd end) {
            const Dims columns{shape[0], shape[1], taps - 1}, rows = contiguous_strides(columns);
            const GuardedTensor in(type, shape, strides, end, 6), d_out(type, shape, strides, end, 7),
                d_in(type, shape, strides, end, 8), weights(DType::f32, {shape[1], taps}, {taps, 1}, end, 9),
                d_weights(DType::f32, {shape[1], taps}, {taps, 1}, end, 10),
                d_bias(DType::f32, {shape[1]}, {1}, end, 11), initial(type, columns, rows, end, 12),
                d_final(type, columns, rows, end, 13), d_initial(type, columns, rows, end, 14);
            DepthwiseForward forward;
            forward.in = in.view();
            forward.weights = weights.view();
            forward.initial_state = initial.view();
            const DepthwiseGradients d{d_out.view(),     d_final.view(), d_in.view(),
                                       d_weights.view(), d_bias.view(),  d_initial.view()};
            const Dims numbers{static_cast<std::int64_t>(
                depthwise_conv1d_backward_workspace_bytes(device(), forward, d) / 4)};
            const GuardedTensor workspace(DType::f32, numbers, {1}, end, 15);
            depthwise_conv1d_backward(stream(), forward, d, workspace.view());
            const reference::DepthwiseBackwardOracle gradients(
                {{in.view(), weights.view(), {}, initial.view(), {}}, d_out.view(), d_final.view()});
            reference::for_each_index(shape, [&](const Dims& i) {
              const reference::BoundedSum sum = gradients.sample(i[0], i[1], i[2]);
              ASSERT_LE(std::fabs(reference::load(d_in.view(), i) - sum.sum),
                        reference::error_bound(sum, type))
                  << in.view().to_string() << " taps " << taps;
            });
          });
        }
      }
    }
  }
}

TEST_P(GuardedMemoryTest, Elementwise) {
  for (const DType type : {DType::i16, DType::i32, DType::f16, DType::f32, DType::f64}) {
    for (const Dims& shape :
         sizes({{1, 1}, {1, 7}, {3, 33}, {17, 9}, {2, 260}},
               {{1, 511}, {1, 513}, {1, 1023}, {2, 1025}, {3, 2049}, {65, 63}, {1, 8193}})) {
      at_both_ends([&](GuardedEnd end) {
        const Dims rows = contiguous_strides(shape), columns{1, shape[0]};
        const GuardedTensor a(type, shape, rows, end, 11), turned(type, shape, columns, end, 12),
            row(type, {shape[1]}, {1}, end, 13), column(type, {shape[0], 1}, {1, 1}, end, 14),
            out(type, shape, rows, end, 15);
        for (const GuardedTensor* b : {&a, &turned, &row, &column}) {
          add(stream(), a.view(), b->view(), out.view());
          const TensorView other = b->view().broadcast_to(shape);
          reference::for_each_index(shape, [&](const Dims& i) {
            ASSERT_EQ(reference::load(out.view(), i),
                      reference::load(a.view(), i) + reference::load(other, i))
                << a.view().to_string() << " + " << b->view().to_string();
          });
        }
        const GuardedTensor codes(DType::i8, shape, rows, end, 16), to(DType::u8, shape, rows, end, 17),
            scales(DType::f32, {shape[0], 1}, {1, 1}, end, 18);
        quantized(stream(), Operation::maximum, {QuantizedTensor{codes.view(), 1.0f, 0}, 0},
                  QuantizedTensor{to.view(), 1.0f, 0});
        reference::for_each_index(shape, [&](const Dims& i) {
          ASSERT_EQ(reference::load(to.view(), i), reference::load(codes.view(), i))
              << codes.view().to_string();
        });
        const GuardedTensor numbers(DType::f32, shape, rows, end, 19);
        dequantize(stream(), QuantizedTensor{codes.view(), scales.view(), 0}, numbers.view());
      });
    }
  }
}

}  // namespace
}  // namespace relayout::test
