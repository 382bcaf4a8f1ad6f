#include "options.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <iostream>
#include <limits>
#include <utility>

#include "input_error.hpp"

namespace example {
namespace {

using relayout::Causal;
using relayout::ColumnOrder;
using relayout::ConvRoute;
using relayout::DType;
using relayout::HostWork;
using relayout::PadMode;
using relayout::PadPolicy;
using relayout::Upload;

template <class T>
using Names = std::vector<std::pair<std::string, T>>;

/// An option whose value is one of a few words.
template <class Target, class T>
void add_choice(CLI::App& app, const std::string& option, Target& target, const Names<T>& names,
                const std::string& description) {
  std::string words;
  for (const auto& name : names) words += (words.empty() ? "" : " | ") + name.first;
  const auto set = [&target, names, words, option](const std::string& text) {
    for (const auto& [name, value] : names) {
      if (name == text) {
        target = value;
        return;
      }
    }
    throw InputError(option + " is one of " + words + ", not '" + text + "'.");
  };
  app.add_option_function<std::string>(option, set, description + ": " + words);
}

/// An option whose value is a whole number of at least `least`.
template <class Target, class T>
void add_integer(CLI::App& app, const std::string& option, Target& target, T least,
                 const std::string& description) {
  const auto set = [&target, least, option](const std::string& text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least) {
      throw InputError(option + " is a whole number from " + std::to_string(least) + " to " +
                       std::to_string(std::numeric_limits<T>::max()) + ", not '" + text + "'.");
    }
    target = value;
  };
  app.add_option_function<std::string>(option, set, description)->type_name("INT");
}

void add_sizes(CLI::App& app, Arguments& a) {
  constexpr std::int64_t kNone = 0, kOne = 1;
  add_integer(app, "--batch", a.batch, kNone, "sequences [1]");
  add_integer(app, "--ci", a.in_channels, kNone, "input channels [64]");
  add_integer(app, "--hi", a.length, kNone, "input samples [2048]");
  add_integer(app, "--hk", a.taps, kOne, "taps [4]");
  add_integer(app, "--co", a.out_channels, kNone, "output channels [64]");
  add_integer(app, "--stride", a.stride, kOne, "samples from one output to the next [1]");
  add_integer(app, "--dilation", a.dilation, kOne, "samples from one tap to the next [1]");
  add_integer(app, "--groups", a.groups, kOne, "groups of channels [1]");
  app.add_flag("--depthwise", a.depthwise,
               "every channel with its own taps, without a GEMM: weights [ci, hk], y in the input's layout");
}

void add_padding(CLI::App& app, Arguments& a) {
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::min();
  add_choice(app, "--causal", a.causal, Names<Causal>{{"sample", Causal::sample}, {"frame", Causal::frame}},
             "pads that make the convolution causal [sample]");
  add_integer(app, "--pad-left", a.pad_left, kAny,
              "samples before the signal, instead of --causal; negative: cut off");
  add_integer(app, "--pad-right", a.pad_right, kAny,
              "samples after the signal, instead of --causal; negative: cut off");
  add_choice(app, "--pad-mode", a.pad_mode,
             Names<PadMode>{{"constant", PadMode::constant},
                            {"replicate", PadMode::replicate},
                            {"reflect", PadMode::reflect},
                            {"symmetric", PadMode::symmetric},
                            {"circular", PadMode::circular},
                            {"reflect-zero-extended", PadMode::reflect_zero_extended}},
             "what the pads hold [constant]");
  app.add_option("--pad-value", a.pad_value, "of --pad-mode constant [0]");
  add_choice(app, "--pad-policy", a.pad_policy,
             Names<PadPolicy>{{"strict", PadPolicy::strict}, {"extended", PadPolicy::extended}},
             "pads limited as in PyTorch, or of any size as in numpy [strict]");
}

void add_run(CLI::App& app, Arguments& a) {
  add_choice(app, "--dtype", a.dtype, Names<DType>{{"f16", DType::f16}, {"bf16", DType::bf16}},
             "element type of the operands and of y [f16]");
  add_choice(app, "--order", a.order,
             Names<ColumnOrder>{{"tap", ColumnOrder::tap_outer}, {"channel", ColumnOrder::channel_outer}},
             "what is outermost in A's columns [tap]");
  add_choice(app, "--layout", a.channels_last, Names<bool>{{"ncl", false}, {"nlc", true}},
             "of the input, [batch, ci, hi] or [batch, hi, ci] [ncl]");
  add_choice(
      app, "--device", a.device,
      Names<DeviceChoice>{
          {"cpu", DeviceChoice::cpu}, {"emulated", DeviceChoice::emulated}, {"gpu", DeviceChoice::gpu}},
      "where the device stages run [gpu where there is one, else cpu]");
  add_choice(app, "--warp", a.warp, Names<int>{{"32", 32}, {"64", 64}},
             "lanes of a warp of --device emulated [32]");
  Names<std::vector<Path>> paths;
  for (const Path& path : all_paths()) paths.push_back({path.name(), {path}});
  paths.push_back({"auto", {}});
  paths.push_back({"all", all_paths()});
  add_choice(app, "--path", a.paths, paths,
             "from the input to the GEMM's operand; auto: by rates that are measured first [all]");
  add_integer(app, "--seed", a.seed, std::uint64_t{0},
              "of generated data: x, bias ~ N(0, 1), weights ~ N(0, 1) / sqrt(K) [0]");
  add_integer(app, "--repeat", a.repeat, 1, "timed runs, their median is shown [20; emulated 1]");
  app.add_flag("--graph", a.graph,
               "also time the input kernel and the GEMM, with prepared weights, in a graph");
  app.add_flag("--explain", a.explain, "say what the device's kernels do, and why they were chosen");
  app.add_flag("--no-verify", a.no_verify, "skip the comparison with the host reference");
}

void add_overlap(CLI::App& app, Arguments& a) {
  add_choice(
      app, "--host-work", a.overlap.host_work,
      Names<HostWork>{
          {"none", HostWork::none}, {"cast", HostWork::cast}, {"cast-transpose", HostWork::cast_transpose}},
      "of --path overlap, before a chunk is copied [cast]");
  add_integer(app, "--chunk-bytes", a.overlap.chunk_bytes, std::int64_t{0},
              "of --path overlap, over the link [0: by the input's size]");
  add_integer(app, "--buffers", a.overlap.buffers, 2, "chunks on their way in --path overlap [4]");
  app.add_flag("--pinned-input,!--pageable-input", a.pinned_input,
               "kind of host memory that the input lies in [pinned]");
}

/// An empty name is what a script's unset variable gives: it asks for a file, so it is not taken for none.
void add_path(CLI::App& app, const std::string& option, std::string& target, const std::string& description) {
  const auto set = [&target, option](const std::string& text) {
    if (text.empty()) throw InputError(option + " is the name of a file, not ''.");
    target = text;
  };
  app.add_option_function<std::string>(option, set, description)->type_name("TEXT");
}

void add_files(CLI::App& app, Arguments& a) {
  add_path(app, "--input", a.input,
           ".npy of f2, f4 or f8: [batch, ci, hi], or one sequence of rank 2; see --layout");
  add_path(app, "--weight", a.weight, ".npy of f2, f4 or f8: [co, ci/groups, hk]; --depthwise [ci, hk]");
  add_path(app, "--bias", a.bias, ".npy of f2, f4 or f8: [co]; none with --weight alone");
  add_path(app, "--output", a.output,
           "y as .npy [batch, ho, co] (--depthwise: as --layout), f2 for f16 and f4 for bf16");
  add_path(app, "--dump-a", a.dump_a,
           "A as .npy [batch*ho, hk*ci], grouped [groups, batch*ho, hk*ci/groups]");
  add_path(app, "--dump-b", a.dump_b, "Bt as .npy [co, hk*ci/groups]; of --path strided-gemm in tap order");
  add_path(app, "--json", a.json,
           "all figures and checks; the only file that is also written when a check fails");
}

/// What belongs to the convolution as a GEMM.
void check_depthwise_options(const CLI::App& app, const Arguments& a) {
  for (const char* option : {"--co", "--groups", "--order", "--path", "--host-work", "--chunk-bytes",
                             "--buffers", "--dump-a", "--dump-b"}) {
    if (app.count(option) > 0)
      throw InputError(std::string(option) +
                       " is of the convolution as a GEMM and does not go with --depthwise.");
  }
  if (a.stride != 1 || a.dilation != 1)
    throw InputError("--depthwise has stride 1 and dilation 1, not " + std::to_string(a.stride) + " and " +
                     std::to_string(a.dilation) + ".");
}

}  // namespace

std::vector<Path> all_paths() {
  return {{Upload::host, ConvRoute::operand},
          {Upload::device, ConvRoute::operand},
          {Upload::device_staged, ConvRoute::operand},
          {Upload::overlap, ConvRoute::operand},
          {Upload::device, ConvRoute::strided_gemm}};
}

Arguments parse(int argc, const char* const* argv) {
  Arguments arguments;
  CLI::App app(
      "Causal conv1d as a GEMM: from fp32 [batch, ci, hi] on the host to y on the device, by several paths.");
  app.get_formatter()->column_width(18);
  add_sizes(app, arguments);
  add_padding(app, arguments);
  add_run(app, arguments);
  add_overlap(app, arguments);
  add_files(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    throw HelpShown();
  } catch (const CLI::ParseError& error) {
    throw InputError(std::string(error.what()) + " (--help lists the options).");
  }
  if (arguments.warp && arguments.device != DeviceChoice::emulated) {
    throw InputError("--warp goes with --device emulated only.");
  }
  if (arguments.depthwise) check_depthwise_options(app, arguments);
  arguments.overlap.pinned_input = arguments.pinned_input;
  if (!arguments.dump_a.empty() && arguments.paths.size() == 1 && !arguments.paths[0].has_operand()) {
    throw InputError(std::string("--path ") + arguments.paths[0].name() +
                     " has no A, so --dump-a has nothing to write.");
  }
  return arguments;
}

relayout::Device device_of(const Arguments& arguments) {
  if (!arguments.device) return relayout::Device::best();
  switch (*arguments.device) {
    case DeviceChoice::cpu:
      return relayout::Device::cpu();
    case DeviceChoice::emulated:
      return relayout::Device::emulated(arguments.warp.value_or(32));
    case DeviceChoice::gpu:
      return relayout::Device::gpu();
  }
  throw InputError("--device is unknown.");
}

}  // namespace example
