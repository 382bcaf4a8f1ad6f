// Random signals [batch, channels, length]: padding, img2col, depthwise convolutions.
#include "tests/fuzz/window_cases.hpp"

#include <algorithm>

#include "core/integer_math.hpp"
#include "tests/cases/img2col_case.hpp"
#include "tests/fuzz/copy_cases.hpp"
#include "tests/fuzz/layouts.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/depthwise_backward_tensors.hpp"
#include "tests/support/depthwise_blocks.hpp"

namespace relayout::fuzz {
namespace {

using cases::DepthwiseBackwardCase;
using cases::DepthwiseCase;
using cases::Img2colCase;
using cases::Layout;
using cases::PadCase;
using cases::SequenceMode;

constexpr Layout kOutputs[] = {Layout::ncl,      Layout::nlc,       Layout::lcn,          Layout::gaps,
                               Layout::nlc_gaps, Layout::wide_rows, Layout::every_second, Layout::reversed};
constexpr Layout kInputs[] = {Layout::ncl,          Layout::nlc,      Layout::ncl,       Layout::nlc,
                              Layout::lcn,          Layout::gaps,     Layout::nlc_gaps,  Layout::wide_rows,
                              Layout::every_second, Layout::reversed, Layout::one_batch, Layout::one_channel,
                              Layout::one_sample};

/// The layouts of sequences: every other case has those that the fast kernels take.
constexpr Layout kTidyOrNot[] = {Layout::ncl, Layout::nlc,  Layout::ncl,          Layout::nlc,
                                 Layout::lcn, Layout::gaps, Layout::every_second, Layout::reversed};
constexpr Layout kTidy[] = {Layout::ncl, Layout::nlc, Layout::wide_rows};

/// Pads that leave at least one sample of the signal.
PadSpec draw_pad(Draw& draw, std::int64_t length, std::int64_t needed) {
  static constexpr PadMode kModes[] = {PadMode::constant, PadMode::replicate,
                                       PadMode::reflect,  PadMode::symmetric,
                                       PadMode::circular, PadMode::reflect_zero_extended};
  const auto one = [&]() -> std::int64_t {
    const int byte = draw.byte();
    return byte < 160 ? byte % 12 : byte < 224 ? byte % 40 : -(byte % 4);
  };
  PadSpec pad;
  pad.mode = draw.pick(kModes);
  pad.policy = PadPolicy::extended;
  pad.value = draw.below(3);
  pad.left = std::max(one(), 1 - length);
  pad.right = one();
  // A pad may cut the signal short, but no more than all of it.
  pad.right =
      std::max({pad.right, needed - length - pad.left, 1 - length - std::min<std::int64_t>(pad.left, 0)});
  return pad;
}

std::int64_t draw_offset(Draw& draw) { return draw.chance(64) ? draw.below(9) : 0; }

/// Layouts and extents of a signal and of the result; every fourth is one that the fastest kernels take.
template <class Case>
void draw_signal(Draw& draw, Case& c, std::int64_t room) {
  const bool tidy = draw.chance(64);
  const Extents extents = tidy ? Extents::whole_vectors : Extents::any;
  c.batch = 1 + draw.below(3);
  c.channels = std::min(draw_extent(draw, extents), room / c.batch);
  c.length = std::min(draw_extent(draw, extents), std::max<std::int64_t>(1, room / c.batch / c.channels));
  c.in_layout = tidy ? draw.pick(kTidy) : draw.pick(kInputs);
  if (tidy) return;
  c.in_misaligned = draw_offset(draw);
  c.out_misaligned = draw_offset(draw);
}

}  // namespace

Trial decode_pad(Draw& draw) {
  PadCase c;
  draw_types(draw, c.in_type, c.out_type);
  draw_signal(draw, c, 6000);
  c.pad = draw_pad(draw, c.length, 1);
  c.out_layout = draw.pick(kOutputs);
  return trial_of(c, [](const Stream& stream, const PadCase& pad) { test::check(stream, pad); });
}

Trial decode_img2col(Draw& draw) {
  Img2colCase c;
  draw_types(draw, c.in_type, c.out_type);
  c.window.taps = 1 + draw.below(6);
  c.window.stride = 1 + draw.below(4);
  c.window.dilation = 1 + draw.below(4);
  c.window.groups = draw.chance(64) ? 1 + draw.below(4) : 1;
  c.window.order = draw.chance(128) ? ColumnOrder::channel_outer : ColumnOrder::tap_outer;
  draw_signal(draw, c, 2000);
  c.channels = round_up(c.channels, c.window.groups);
  c.pad = draw_pad(draw, c.length, c.window.span());
  c.row_gap = draw_offset(draw);
  c.group_gap = draw_offset(draw);
  return trial_of(c, [](const Stream& stream, const Img2colCase& img2col) { test::check(stream, img2col); });
}

Trial decode_depthwise(Draw& draw) {
  static constexpr DType kTypes[] = {DType::f16, DType::bf16, DType::f32};
  DepthwiseCase c;
  c.type = draw.pick(kTypes);
  c.weight_type = draw.chance(64) ? DType::f32 : c.type;
  c.bias_type = draw.chance(128) ? DType::f32 : c.type;
  c.taps = draw.chance(32) ? 1 + draw.below(40) : 1 + draw.below(8);
  draw_signal(draw, c, 1500);
  c.out_layout = draw.pick(kOutputs);
  c.bias = draw.chance(128);
  c.initial_state = draw.chance(128);
  c.final_state = draw.chance(128);
  c.ids = draw.chance(48) && !c.initial_state && !c.final_state;
  return trial_of(c, [](const Stream& stream, const DepthwiseCase& depthwise) {
    test::check_integers(stream, depthwise);
  });
}

/// depthwise_update with options and depthwise_varlen.
Trial decode_depthwise_sequences(Draw& draw) {
  static constexpr DType kTypes[] = {DType::f16, DType::bf16, DType::f32};
  static constexpr SequenceMode kModes[] = {SequenceMode::plain, SequenceMode::ring,
                                            SequenceMode::speculative};
  cases::DepthwiseSequenceCase c;
  const bool is_update = draw.chance(128);
  c.type = draw.pick(kTypes);
  c.weight_type = draw.chance(64) ? DType::f32 : c.type;
  c.bias_type = draw.chance(128) ? DType::f32 : c.type;
  c.taps = draw.chance(32) ? 1 + draw.below(20) : 1 + draw.below(8);
  c.starts = !is_update || draw.chance(100);
  const int sequences = draw.below(8), most = is_update ? 7 : draw.chance(80) ? 90 : 12;
  const std::int64_t length = draw.below(most);
  c.lengths.assign(static_cast<std::size_t>(sequences), length);
  for (std::int64_t& one : c.lengths) one = c.starts ? draw.below(most) : length;
  c.channels = 1 + draw.below(20);
  c.mode = is_update ? draw.pick(kModes) : SequenceMode::plain;
  c.more_columns = is_update ? draw.below(4) : 0;
  c.in_layout = draw.pick(kTidyOrNot);
  c.out_layout = draw.chance(128) ? c.in_layout : draw.pick(kOutputs);
  c.state_layout = draw.pick(kOutputs);
  c.bias = draw.chance(128);
  c.zero_null = draw.chance(128);
  c.indices = !draw.chance(64);
  c.nulls = c.indices && draw.chance(128);
  c.in_place = is_update && draw.chance(80);
  c.states = is_update || !draw.chance(40);
  c.initial = c.states && !draw.chance(64);
  c.stride = 1 + draw.below(3);
  c.seed = static_cast<std::uint64_t>(draw.byte());
  if (c.states && !c.in_place && c.mode != SequenceMode::ring && draw.chance(80)) {
    const std::int64_t size = std::max<std::int64_t>(1, c.taps - 1) + draw.below(9);
    const bool hostile = draw.chance(80);
    return trial_of(c, [=](const Stream& stream, const cases::DepthwiseSequenceCase& sequences_of) {
      if (is_update) return test::check_update_blocks(stream, sequences_of, hostile);
      test::check_varlen_blocks(stream, sequences_of, size, hostile);
    });
  }
  return trial_of(c, [is_update](const Stream& stream, const cases::DepthwiseSequenceCase& sequences_of) {
    if (is_update) return test::check_update_integers(stream, sequences_of);
    test::check_varlen_integers(stream, sequences_of);
  });
}

Trial decode_depthwise_backward(Draw& draw) {
  static constexpr DType kTypes[] = {DType::f16, DType::bf16, DType::f32};
  DepthwiseBackwardCase c;
  c.type = draw.pick(kTypes);
  c.weight_type = draw.pick(kTypes);
  c.bias_type = draw.chance(128) ? DType::f32 : c.type;
  c.d_weights_type = draw.pick(kTypes);
  c.taps = draw.chance(32) ? 1 + draw.below(40) : 1 + draw.below(8);
  draw_signal(draw, c, 1500);
  c.out_layout = draw.chance(128) ? c.in_layout : draw.pick(kInputs);
  c.d_in_layout =
      draw.chance(128) ? test::DepthwiseBackwardTensors::written(c.in_layout) : draw.pick(kOutputs);
  c.d_in_misaligned = draw_offset(draw);
  c.bias = draw.chance(128);
  c.d_weights = !draw.chance(32);
  c.d_bias = draw.chance(128);
  c.initial_state = draw.chance(128);
  c.final_state = draw.chance(128);
  c.d_initial_state = draw.chance(128);
  c.ids = draw.chance(48) && !c.initial_state && !c.final_state && !c.d_initial_state;
  return trial_of(c, [](const Stream& stream, const DepthwiseBackwardCase& backward) {
    test::check_integers(stream, backward);
  });
}

}  // namespace relayout::fuzz
