// What a planned copy does, in plain words.

#include "host/plan/copy/bank_model.hpp"
#include "host/plan/copy/cast_rule.hpp"
#include "host/plan/copy/copy_plan.hpp"
#include "host/plan/plan_words.hpp"

namespace relayout::plan {
namespace {

void explain_side(std::ostream& text, const char* name, const CopySide& side, bool vectors) {
  text << name << ": " << plural(side.bytes, "byte") << " in all, planned for an address on a multiple of "
       << side.alignment;
  if (side.vector_bytes > 0) {
    text << "; " << plural(side.vector_bytes, "byte") << " an access"
         << (!vectors               ? ""
             : side.aligned_vectors ? ", each on a multiple of its size"
                                    : ", from rows that start anywhere");
  }
  if (side.run_bytes > 0) {
    text << "; runs of " << plural(side.run_bytes, "byte") << "; " << side.sectors_touched
         << " sectors of 32 bytes touched a tile, " << side.sectors_needed << " needed";
  }
  text << ".\n";
}

void explain_scale(std::ostream& text, const PlannedCopy& copy) {
  const CopyScale& scale = copy.options.scale;
  text << "Scaled: out = " << scale.alpha << " * in";
  if (scale.beta != 0) text << " + " << scale.beta << " * out";
  text << ", computed in " << name_of(scale_type(copy.in_type, copy.out_type)) << "; the output is "
       << (scale.beta != 0 ? "read and written" : "not read") << ".\n";
}

void explain_cast(std::ostream& text, DType in, DType out, const CastOptions& options) {
  if (in == out) return;
  text << "Cast: " << name_of(in) << " to " << name_of(out);
  if (const auto rounding = rounding_of(in, out, options)) text << ", rounding " << name_of(*rounding);
  const bool saturates =
      options.integer_overflow == IntegerOverflow::saturate || (options.saturate_fp8 && is_fp8(out));
  text << (saturates ? ", saturated" : "")
       << (keeps_bits(in, out, options)           ? "; the bits stay as they are"
           : needs_generic_cast(in, out, options) ? "; by format"
                                                  : "")
       << ".\n";
}

/// How the kernel came to be taken, and what became of the others.
void explain_choice(std::ostream& text, const CopyDetails& d, const std::string& device) {
  if (d.measurement.candidates > 0) {
    text << "Measured on " << device << ": " << d.measurement.microseconds << " us, the fastest of "
         << plural(d.measurement.candidates, "plan") << ".\n";
  } else if (d.microseconds > 0) {
    text << "Chosen by estimate.\n";
  }
  if (d.microseconds > 0) text << "Predicted: " << time_words(d.microseconds) << ".\n";
  for (const CopyAlternative& other : d.others) {
    text << "Not " << name_of(other.kernel) << ": ";
    if (other.possible) text << "possible, predicted " << time_words(other.microseconds) << "; ";
    text << other.reason << ".\n";
  }
}

void explain_banks(std::ostream& text, const char* name, const CopyBanks& banks) {
  text << name << " take " << plural(banks.passes, "pass") << " of " << banks.banks << " banks a tile, ";
  if (banks.passes == banks.least) {
    text << "none of them for conflicts";
  } else {
    text << banks.passes - banks.least << " of them for conflicts, at worst " << banks.worst
         << " where one would do";
  }
}

/// Nothing for kernels that use no shared memory.
void explain_shared_memory(std::ostream& text, const CopyDetails& d, const DeviceProperties& device) {
  if (d.shared_writes.banks == 0) return;
  text << "Shared memory, predicted for " << bank_family(device) << " with " << device.warp_size
       << " lanes: ";
  explain_banks(text, "writes", d.shared_writes);
  explain_banks(text, "; reads", d.shared_reads);
  text << ".\n";
}

const char* words_of(Assembly assembly) {
  switch (assembly) {
    case Assembly::elements:
      return "put together from elements a constant step apart in shared memory";
    case Assembly::words:
      return "put together from words of several runs at once, transposed in registers";
    case Assembly::vectors:
      return "taken from shared memory as they lie";
    case Assembly::scattered:
      return "put together element by element, from the places that a table names";
    case Assembly::unaligned_groups:
      return "put together from words of several rows, each run from its first 32-byte boundary on";
    case Assembly::unaligned_rows:
    case Assembly::unaligned_columns:
      return "put together from elements, each run from its first 32-byte boundary on";
  }
  return "";
}

}  // namespace

std::string explain_copy(const PlannedCopy& copy, const TensorView& in, const TensorView& out,
                         const std::string& device_name, const DeviceProperties& device,
                         const CopyMeasurement& measurement) {
  const CopyDetails d = copy_details(copy, in, out, device, measurement);
  SentenceStream text;
  text << copy.operation << ": " << in.to_string() << " -> " << out.to_string() << ", on " << device_name
       << (device_name.empty() ? "" : ", ") << device.name << ".\n";
  text << "Kernel " << name_of(d.kernel) << ": " << d.reason << ".\n";
  if (d.kernel == CopyKernel::nothing) return text.str();
  explain_choice(text, d, device.name);
  explain_cast(text, in.dtype(), out.dtype(), copy.options.cast);
  if (is_scaled(d.scale)) explain_scale(text, copy);
  if (d.indirect) text << "Indirect: both pointers may be read from slots when the copy starts.\n";
  text << "Loop nest: extents " << relayout::to_string(d.extents) << ", output strides "
       << relayout::to_string(d.out_strides);
  if (d.in_strides.size() == d.extents.size()) {
    text << ", input strides " << relayout::to_string(d.in_strides);
  } else {
    text << "; the input has axes of its own";
  }
  text << ", in elements of " << size_of(copy.out_type) << " and " << size_of(copy.in_type) << " bytes.\n";
  if (d.kernel != CopyKernel::native) {
    text << "Tile: extents " << relayout::to_string(d.tile) << ", " << plural(d.threads, "thread") << ", "
         << plural(d.shared_bytes, "byte") << " of shared memory; " << plural(d.blocks, "block") << ".\n";
  }
  const bool vectors = d.kernel == CopyKernel::tile || d.kernel == CopyKernel::window;
  explain_side(text, "Input", d.in, vectors);
  explain_side(text, "Output", d.out, vectors);
  explain_shared_memory(text, d, device);
  if (d.kernel == CopyKernel::tile) text << "Output vectors are " << words_of(copy.tile.assembly) << ".\n";
  return text.str();
}

}  // namespace relayout::plan
