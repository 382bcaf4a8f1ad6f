#include "options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <iostream>
#include <limits>
#include <sstream>
#include <utility>

#include "input_error.hpp"
#include "output_file.hpp"

namespace example {
namespace {

using relayout::Causal;
using relayout::ColumnOrder;
using relayout::Conv1dPath;
using relayout::DType;
using relayout::HostWork;
using relayout::PadMode;
using relayout::PadPolicy;

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
             "element type of the GEMM [f16]");
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
  add_choice(app, "--path", a.paths,
             Names<std::vector<Conv1dPath>>{{"host", {Conv1dPath::host}},
                                            {"device", {Conv1dPath::device}},
                                            {"device-staged", {Conv1dPath::device_staged}},
                                            {"overlap", {Conv1dPath::overlap}},
                                            {"view", {Conv1dPath::view}},
                                            {"auto", {}},
                                            {"all",
                                             {Conv1dPath::host, Conv1dPath::device, Conv1dPath::device_staged,
                                              Conv1dPath::overlap, Conv1dPath::view}}},
             "from the input to the GEMM's operand; auto: by rates that are measured first [all]");
  add_integer(app, "--seed", a.seed, std::uint64_t{0},
              "of generated data: x, bias ~ N(0, 1), weights ~ N(0, 1) / sqrt(K) [0]");
  add_integer(app, "--repeat", a.repeat, 1, "timed runs, their median is shown [20; emulated 1]");
  app.add_flag("--graph", a.graph,
               "also time the input kernel and the GEMM, with prepared weights, in a graph");
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
  add_integer(app, "--buffers", a.overlap.buffers, 2, "chunks on their way in --path overlap [3]");
  app.add_flag("--pinned-input,!--pageable-input", a.pinned_input,
               "kind of host memory that the input lies in [pinned]");
}

void add_files(CLI::App& app, Arguments& a) {
  app.add_option("--input", a.input,
                 ".npy of f2, f4 or f8: [batch, ci, hi], or one sequence of rank 2; see --layout");
  app.add_option("--weight", a.weight, ".npy of f2, f4 or f8: [co, ci/groups, hk]");
  app.add_option("--bias", a.bias, ".npy of f2, f4 or f8: [co]; none with --weight alone");
  app.add_option("--output", a.output, "y as .npy [batch, ho, co], f2 for f16 and f4 for bf16");
  app.add_option("--dump-a", a.dump_a,
                 "A as .npy [batch*ho, hk*ci], grouped [groups, batch*ho, hk*ci/groups]");
  app.add_option("--dump-b", a.dump_b, "Bt as .npy [co, hk*ci/groups]; of path view in tap order");
  app.add_option("--json", a.json,
                 "all figures and checks; the only file that is also written when a check fails");
}

/// One size and who determined it.
struct Size {
  const char* option;
  std::int64_t value;
  std::string source;  // empty: only the default so far

  Size(const char* name, const std::optional<std::int64_t>& given, std::int64_t fallback)
      : option(name), value(given.value_or(fallback)), source(given ? std::string("option --") + name : "") {}

  void take(std::int64_t from_file, const NpyFile& file) {
    if (!source.empty() && from_file != value) {
      throw InputError(file.path() + ": the shape " + relayout::to_string(file.shape()) + " gives " + option +
                       " " + std::to_string(from_file) + ", but " + source + " says " +
                       std::to_string(value) + ".");
    }
    value = from_file;
    source = file.path();
  }
};

[[noreturn]] void throw_rank(const NpyFile& file, const char* wanted) {
  throw InputError(file.path() + ": the shape " + relayout::to_string(file.shape()) + " has " +
                   std::to_string(file.shape().size()) + " axes, but " + wanted + " is needed.");
}

OptionalFile open(const std::string& path) {
  return path.empty() ? OptionalFile() : OptionalFile(NpyFile(path));
}

relayout::PadSpec padding(const Arguments& a, const relayout::Conv1d& problem) {
  const bool explicit_pads = a.pad_left || a.pad_right;
  if (explicit_pads && a.causal) {
    throw InputError(
        "--causal determines both pads, so it cannot be combined with --pad-left or --pad-right.");
  }
  relayout::PadSpec spec;
  if (explicit_pads) {
    spec.left = a.pad_left.value_or(0);
    spec.right = a.pad_right.value_or(0);
  } else {
    spec = relayout::causal_padding(a.causal.value_or(Causal::sample), problem.length, problem.window);
  }
  spec.mode = a.pad_mode;
  spec.value = a.pad_value;
  spec.policy = a.pad_policy;
  return spec;
}

void check_outputs(const Arguments& a) {
  std::vector<std::string> paths;
  for (const std::string* path : {&a.output, &a.dump_a, &a.dump_b, &a.json}) {
    if (path->empty()) continue;
    if (std::find(paths.begin(), paths.end(), *path) != paths.end()) {
      throw InputError(*path + ": two outputs cannot go into the same file.");
    }
    check_output_path(*path);
    paths.push_back(*path);
  }
}

}  // namespace

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
  arguments.overlap.pinned_input = arguments.pinned_input;
  if (!arguments.dump_a.empty() && arguments.paths == std::vector<Conv1dPath>{Conv1dPath::view}) {
    throw InputError("--path view has no A, so --dump-a has nothing to write.");
  }
  return arguments;
}

Job resolve(const Arguments& a) {
  check_outputs(a);
  Job job;
  job.input = open(a.input);
  job.weight = open(a.weight);
  job.bias = open(a.bias);
  Size batch("batch", a.batch, 1), ci("ci", a.in_channels, 64), hi("hi", a.length, 2048), hk("hk", a.taps, 4),
      co("co", a.out_channels, 64);
  if (job.input) {
    relayout::Dims shape = job.input->shape();
    if (shape.size() == 2) shape.insert(shape.begin(), 1);
    if (shape.size() != 3) throw_rank(*job.input, a.channels_last ? "[batch, hi, ci]" : "[batch, ci, hi]");
    batch.take(shape[0], *job.input);
    ci.take(shape[a.channels_last ? 2 : 1], *job.input);
    hi.take(shape[a.channels_last ? 1 : 2], *job.input);
  }
  if (job.weight) {
    const relayout::Dims& shape = job.weight->shape();
    if (shape.size() != 3) throw_rank(*job.weight, "[co, ci/groups, hk]");
    std::int64_t channels = 0;
    if (__builtin_mul_overflow(shape[1], a.groups, &channels)) {
      throw InputError("--groups " + std::to_string(a.groups) + " is too large.");
    }
    co.take(shape[0], *job.weight);
    ci.take(channels, *job.weight);
    hk.take(shape[2], *job.weight);
  }
  if (job.bias) {
    if (job.bias->shape().size() != 1) throw_rank(*job.bias, "[co]");
    co.take(job.bias->shape()[0], *job.bias);
  }
  relayout::Conv1d& problem = job.problem;
  problem.batch = batch.value;
  problem.in_channels = ci.value;
  problem.length = hi.value;
  problem.out_channels = co.value;
  problem.window = {hk.value, a.stride, a.dilation, a.groups, a.order};
  problem.dtype = a.dtype;
  problem.pad = padding(a, problem);
  job.sizes = relayout::sizes_of(problem);
  return job;
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

std::string describe(const relayout::Conv1d& p) {
  std::ostringstream text;
  text << "batch " << p.batch << ", ci " << p.in_channels << ", hi " << p.length << ", hk " << p.window.taps
       << ", co " << p.out_channels << ", stride " << p.window.stride << ", dilation " << p.window.dilation
       << ", groups " << p.window.groups << ", pad " << relayout::name_of(p.pad.mode);
  if (p.pad.mode == PadMode::constant) text << ' ' << p.pad.value;
  text << " left " << p.pad.left << " right " << p.pad.right << ", " << relayout::name_of(p.dtype) << ", "
       << (p.window.order == ColumnOrder::tap_outer ? "tap" : "channel") << " order";
  return text.str();
}

}  // namespace example
