#include "host/conv1d/padded_signal.hpp"

#include "core/bytes.hpp"
#include "core/kernel_table.hpp"
#include "host/api/checks.hpp"
#include "host/api/plan_checks.hpp"
#include "host/api/window.hpp"
#include "host/plan/plan_words.hpp"

namespace relayout {
namespace {

/// One tap has no distance to another, so that no dilation is too large.
Conv1d without_idle_dilation(Conv1d problem) {
  if (problem.window.taps == 1) problem.window.dilation = 1;
  return problem;
}

plan::ViewPlan plan_of(const Device& device, const Conv1d& problem) {
  const Window& window = problem.window;
  plan::ViewShape shape;
  shape.batch = problem.batch;
  shape.groups = window.groups;
  shape.channels = problem.in_channels / window.groups;
  shape.padded = padded_length("conv1d", problem.length, problem.pad);
  shape.taps = window.taps;
  shape.stride = window.stride;
  shape.dilation = window.dilation;
  shape.positions = output_length("conv1d", problem.length, window, problem.pad);
  shape.out_channels = problem.out_channels;
  return plan::plan_view(shape, gemm_library_takes_overlapping_rows(device));
}

void* element(const void* data, std::int64_t index, DType type) {
  return data == nullptr ? nullptr : at_bytes(const_cast<void*>(data), index * bytes_of(type));
}

/// y = round(sums + bias) over whole rows.
void round_sums(const Stream& stream, const Buffer& sums, const TensorView& bias, const TensorView& y) {
  GemmParams params;
  params.kernel = GemmKernel::epilogue;
  params.workspace = static_cast<float*>(sums.data());
  params.bias = static_cast<const float*>(bias.data());
  params.y = y.data();
  params.in_type = params.out_type = y.dtype();
  params.m = y.extent(0) * y.extent(1);
  params.n = params.ldc = y.extent(2);
  kernels_of(stream).gemm(context_of(stream), params);
}

}  // namespace

PaddedSignal::PaddedSignal(const Device& device, const Conv1d& problem, bool with_bias)
    : problem_(without_idle_dilation(problem)),
      plan_(plan_of(device, problem_)),
      pad_bits_(encode_pad_value("conv1d", problem.pad, problem.dtype)),
      signal_(device, static_cast<std::size_t>(plan_.signal_elements) * size_of(problem.dtype)) {
  const std::int64_t positions = output_length("conv1d", problem.length, problem.window, problem.pad);
  const TensorView y(nullptr, problem.dtype, {problem.batch, positions, problem.out_channels});
  sums_ = Buffer(device, gemm_workspace_bytes(device, y, with_bias));
}

WindowParams PaddedSignal::window_of(const TensorView& input) const {
  const std::int64_t channels = problem_.in_channels / problem_.window.groups;
  // Sample q of residue r is sample q * dilation + r: a window of `dilation` taps that moves by as many.
  Window residues;
  residues.taps = residues.stride = problem_.window.dilation;
  residues.groups = problem_.window.groups;
  WindowStrides strides;
  strides.channel = 1;
  strides.position = channels;
  strides.tap = plan_.samples * channels;
  strides.batch = residues.taps * strides.tap;
  strides.group = problem_.batch * strides.batch;
  const TensorView signal(signal_.data(), problem_.dtype, {plan_.signal_elements});
  return window_params(input, residues, problem_.pad, pad_bits_, plan_.samples, signal, strides);
}

void PaddedSignal::fill(const Stream& stream, const TensorView& input) const {
  if (signal_.bytes() == 0) return;
  run_window(stream, window_of(input));
}

void PaddedSignal::multiply(const Stream& stream, const TensorView& bt, const TensorView& bias,
                            const TensorView& y) const {
  if (y.elements() == 0) return;
  const std::int64_t n = problem_.out_channels / problem_.window.groups, depth = plan_.depth;
  const bool in_sums = sums_.bytes() > 0, with_bias = bias.data() != nullptr;
  const DType type = problem_.dtype, out_type = in_sums ? DType::f32 : y.dtype();
  void* const out = in_sums ? sums_.data() : y.data();
  for (const plan::StridedGemm& g : plan_.gemms) {
    const TensorView rows = rows_of(g);
    const TensorView weights(element(bt.data(), g.group * n * depth, type), type, {g.count, n, depth},
                             {0, depth, 1});
    const TensorView results(element(out, g.y, out_type), out_type, {g.count, g.m, n},
                             {g.y_step, plan_.y_pitch, 1});
    const TensorView group_bias =
        with_bias && !in_sums
            ? TensorView(element(bias.data(), g.group * n, DType::f32), DType::f32, {g.count, n}, {0, 1})
            : TensorView();
    gemm(stream, rows, weights, group_bias, results);
  }
  if (in_sums) round_sums(stream, sums_, bias, y);
}

TensorView PaddedSignal::rows_of(const plan::StridedGemm& g) const {
  return TensorView(element(signal_.data(), g.a, problem_.dtype), problem_.dtype, {g.count, g.m, plan_.depth},
                    {g.a_step, plan_.a_pitch, 1});
}

std::string PaddedSignal::explain_fill(const Device& device, const TensorView& input) const {
  if (signal_.bytes() == 0) return "Kernel nothing: there are no samples.\n";
  return plan::explain_window(device.properties(),
                              plan::plan_window(device.properties(), is_native(device), window_of(input)));
}

std::string PaddedSignal::explain_multiply(const Device& device) const {
  if (plan_.gemms.empty()) return "Kernel nothing: there are no outputs.\n";
  const plan::StridedGemm& g = plan_.gemms[0];
  const std::int64_t n = problem_.out_channels / problem_.window.groups;
  const DType type = problem_.dtype, out_type = sums_.bytes() > 0 ? DType::f32 : type;
  const TensorView weights(nullptr, type, {g.count, n, plan_.depth}, {0, plan_.depth, 1});
  const TensorView results(nullptr, out_type, {g.count, g.m, n}, {g.y_step, plan_.y_pitch, 1});
  return plan::plural(static_cast<std::int64_t>(plan_.gemms.size()), "GEMM") +
         " on views of the padded signal; of the first:\n" +
         plan_gemm(device, rows_of(g), weights, TensorView(), results).explain();
}

}  // namespace relayout
