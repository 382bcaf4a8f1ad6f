// resolve: the sizes from options, files and defaults.
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <relayout/error.hpp>

#include "input_error.hpp"
#include "options.hpp"
#include "output_file.hpp"

namespace example {
namespace {

using relayout::Causal;
using relayout::ColumnOrder;
using relayout::PadMode;

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

/// The word of --pad-mode.
std::string word_of(PadMode mode) {
  std::string word = relayout::name_of(mode);
  std::replace(word.begin(), word.end(), '_', '-');
  return word;
}

/// The numbers of a problem by the options that give them, for errors of the library, which has words of its
/// own.
std::string options_of(const relayout::Conv1d& p) {
  std::ostringstream text;
  text << "--batch " << p.batch << ", --ci " << p.in_channels << ", --hi " << p.length << ", --hk "
       << p.window.taps << ", --co " << p.out_channels << ", --stride " << p.window.stride << ", --dilation "
       << p.window.dilation << ", --groups " << p.window.groups << ", --pad-left " << p.pad.left
       << ", --pad-right " << p.pad.right << ", --pad-mode " << word_of(p.pad.mode) << ", --pad-policy "
       << (p.pad.policy == relayout::PadPolicy::strict ? "strict" : "extended");
  return text.str();
}

[[noreturn]] void throw_rank(const NpyFile& file, const char* wanted) {
  throw InputError(file.path() + ": the shape " + relayout::to_string(file.shape()) + " has " +
                   std::to_string(file.shape().size()) + " axes, but " + wanted + " is needed.");
}

OptionalFile open(const std::string& path) {
  return path.empty() ? OptionalFile() : OptionalFile(NpyFile(path));
}

/// The depthwise kernel pads as a causal convolution does, with zeros.
void check_depthwise_padding(const relayout::PadSpec& pad, std::int64_t taps) {
  if (pad.left == taps - 1 && pad.right == 0 && pad.mode == PadMode::constant && pad.value == 0) return;
  throw InputError("--depthwise is causal: " + std::to_string(taps - 1) +
                   " zeros before the signal and nothing after it, not " + std::to_string(pad.left) +
                   " and " + std::to_string(pad.right) + " samples of padding " + word_of(pad.mode) + ".");
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
    if (!path->empty()) paths.push_back(*path);
  }
  check_output_paths(paths);
}

}  // namespace

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
  if (job.weight && a.depthwise) {
    const relayout::Dims& shape = job.weight->shape();
    if (shape.size() != 2) throw_rank(*job.weight, "[ci, hk]");
    ci.take(shape[0], *job.weight);
    hk.take(shape[1], *job.weight);
  } else if (job.weight) {
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
    if (job.bias->shape().size() != 1) throw_rank(*job.bias, a.depthwise ? "[ci]" : "[co]");
    (a.depthwise ? ci : co).take(job.bias->shape()[0], *job.bias);
  }
  relayout::Conv1d& problem = job.problem;
  problem.batch = batch.value;
  problem.in_channels = ci.value;
  problem.length = hi.value;
  problem.out_channels = a.depthwise ? ci.value : co.value;
  problem.window = {hk.value, a.stride, a.dilation, a.groups, a.order};
  if (a.depthwise) problem.window.groups = std::max<std::int64_t>(ci.value, 1);
  problem.dtype = a.dtype;
  try {
    problem.pad = padding(a, problem);
    if (a.depthwise) check_depthwise_padding(problem.pad, hk.value);
    job.sizes = relayout::sizes_of(problem);
  } catch (const relayout::Error& error) {
    throw_with_options(error, problem);
  }
  return job;
}

void throw_with_options(const relayout::Error& error, const relayout::Conv1d& problem) {
  std::string sentence = error.what();
  if (!sentence.empty() && sentence.back() == '.') sentence.pop_back();
  throw InputError(sentence + " (" + options_of(problem) + ").");
}

std::string describe(const relayout::Conv1d& p, bool depthwise) {
  std::ostringstream text;
  text << "batch " << p.batch << ", ci " << p.in_channels << ", hi " << p.length << ", hk " << p.window.taps;
  if (depthwise) {
    text << ", depthwise";
  } else {
    text << ", co " << p.out_channels << ", stride " << p.window.stride << ", dilation " << p.window.dilation
         << ", groups " << p.window.groups;
  }
  text << ", pad " << word_of(p.pad.mode);
  if (p.pad.mode == PadMode::constant) text << ' ' << p.pad.value;
  text << " left " << p.pad.left << " right " << p.pad.right << ", " << relayout::name_of(p.dtype);
  if (!depthwise) text << (p.window.order == ColumnOrder::tap_outer ? ", tap order" : ", channel order");
  return text.str();
}

}  // namespace example
