#include "host/plan/elementwise/elementwise_nest.hpp"

#include <algorithm>

#include "core/bytes.hpp"
#include "host/plan/elementwise/elementwise_kernel.hpp"
#include "host/plan/elementwise/elementwise_rows.hpp"
#include "host/plan/elementwise/typed_kernel.hpp"
#include "host/plan/plan_words.hpp"

namespace relayout::plan {
namespace {

bool is_scale_or_zero_point(const ElementwiseParams& p, int tensor) {
  const auto is_of = [&](const CodeNumbers& codes) {
    return codes.scale_tensor == tensor || codes.zero_tensor == tensor;
  };
  return is_of(p.out_codes) || std::any_of(p.codes, p.codes + p.tensors, is_of);
}

const char* name_of(ElementwiseKernel kernel) {
  switch (kernel) {
    case ElementwiseKernel::typed:
      return "typed";
    case ElementwiseKernel::typed_costly:
      return "typed, costly operation";
    case ElementwiseKernel::typed_unaligned:
      return "typed, unaligned";
    case ElementwiseKernel::typed_unaligned_costly:
      return "typed, unaligned, costly operation";
    case ElementwiseKernel::typed_chunks:
      return "typed, chunks of rows";
    case ElementwiseKernel::typed_chunks_costly:
      return "typed, chunks of rows, costly operation";
    case ElementwiseKernel::typed_flat:
      return "typed, output in one piece";
    case ElementwiseKernel::typed_flat_costly:
      return "typed, output in one piece, costly operation";
    case ElementwiseKernel::typed_strips:
      return "typed, strips";
    case ElementwiseKernel::typed_strips_costly:
      return "typed, strips, costly operation";
    case ElementwiseKernel::transposed:
      return "transposed";
    case ElementwiseKernel::mixed:
      return "mixed types";
    case ElementwiseKernel::mixed_chunks:
      return "mixed types, chunks of rows";
    case ElementwiseKernel::mixed_strips:
      return "mixed types, strips";
    case ElementwiseKernel::chain_cheap:
      return "chain, cheap operations";
    case ElementwiseKernel::chain_activation:
      return "chain, activations";
    case ElementwiseKernel::chain_costly:
      return "chain, costly operations";
    case ElementwiseKernel::chain_approximate:
      return "chain, approximate operations";
    case ElementwiseKernel::vectors:
      return "vectors";
    case ElementwiseKernel::vectors_costly:
      return "vectors, costly operations";
    case ElementwiseKernel::vectors_approximate:
      return "vectors, approximate operations";
    case ElementwiseKernel::program:
      return "program";
    case ElementwiseKernel::program_costly:
      return "program, costly operations";
    case ElementwiseKernel::program_strips:
      return "program, strips";
    case ElementwiseKernel::program_strips_costly:
      return "program, strips, costly operations";
    case ElementwiseKernel::code_rows:
      return "rows of codes";
    case ElementwiseKernel::code_vectors:
      return "codes, vectors of rows";
    case ElementwiseKernel::code_chunks:
      return "codes, chunks of rows";
    case ElementwiseKernel::code_strips:
      return "codes, strips";
  }
  return "?";
}

/// Where the nest's first element lies in the output and in a tensor.
void* first_of_output(const LoopNest& nest, void* out, const ElementwiseParams& p) {
  return at_bytes(out, nest.offsets[0] * p.out_bytes);
}
const void* first_of_tensor(const LoopNest& nest, const std::vector<const void*>& tensors, std::size_t t,
                            const TensorOperand& tensor) {
  return at_bytes(tensors[t], nest.offsets[t + 1] * tensor.bytes);
}

}  // namespace

void set_nest(const LoopNest& nest, ElementwiseParams& p) {
  p.rank = std::max(nest.rank(), 1);
  p.elements = nest.elements();
  p.extents[0] = p.out_strides[0] = 1;  // of a single element
  std::copy(nest.extents.begin(), nest.extents.end(), p.extents);
  std::copy(nest.strides[0].begin(), nest.strides[0].end(), p.out_strides);
  for (int t = 0; t < p.tensors; ++t) {
    const auto& strides = nest.strides[static_cast<std::size_t>(t) + 1];
    std::copy(strides.begin(), strides.end(), p.tensor[t].strides);
    // A single element does not count as repeated: lanes without an element of the output read repeated ones,
    // too, and this one may be written in place.
    if (nest.rank() == 0 && !is_scale_or_zero_point(p, t)) p.tensor[t].strides[0] = 1;
  }
}

void set_memory(const LoopNest& nest, const std::vector<const void*>& tensors, void* out,
                ElementwiseParams& p) {
  p.out = first_of_output(nest, out, p);
  for (std::size_t t = 0; t < tensors.size(); ++t)
    p.tensor[t].data = first_of_tensor(nest, tensors, t, p.tensor[t]);
}

void set_memory_anew(const LoopNest& nest, const std::vector<const void*>& tensors, void* out,
                     ElementwiseParams& p) {
  if (!has_operands_placed(p.kernel)) return set_memory(nest, tensors, out, p);
  p.out = first_of_output(nest, out, p);
  for (int i = 0; i < 2; ++i) {
    const int tensor = tensor_of_operand(p, i);
    if (tensor < 0) continue;
    p.tensor[i].data = first_of_tensor(nest, tensors, static_cast<std::size_t>(tensor), p.tensor[i]);
  }
}

void set_kernel(const DeviceProperties& device, ElementwiseParams& p) {
  p.kernel = choose_kernel(device, p).kernel;
  place_operands(p);
}

std::string explain_kernel(const DeviceProperties& device, const ElementwiseParams& params) {
  ElementwiseParams p = params;
  const KernelChoice choice = choose_kernel(device, p);
  SentenceStream text;
  const char* const own_scales = p.own_scales ? ", whose codes have scales of their own" : "";
  text << "Kernel " << name_of(choice.kernel) << ": ";
  if (is_in_strips(choice.kernel)) {
    text << plural(static_cast<std::int64_t>(p.lanes), "lane") << " with a strip of " << p.strips.count
         << " elements each" << (p.strips.whole ? "" : ", some of them shorter") << own_scales << ".";
  } else if (is_flat(choice.kernel)) {
    text << plural(p.lanes, "lane") << " with " << flat_elements(p.width) << " elements each, in rows of "
         << p.row_divisor.value << ".";
  } else if (is_in_chunks(choice.kernel)) {
    text << plural(p.vectors, "chunk") << " of " << chunk_elements(p) << " elements, " << p.row_vectors
         << " a row" << own_scales << ".";
  } else {
    text << p.vectors << " vectors of " << p.width << " elements, " << p.row_vectors << " a row"
         << (p.streaming ? ", stored past the caches" : "") << ".";
  }
  const auto add = [&](const char* name, const char* obstacle) {
    if (obstacle != nullptr) text << " Not " << name << ": " << obstacle << ".";
  };
  add("rows of codes", choice.not_code_rows);
  add("one operation on codes", choice.not_one_on_codes);
  add("transposed", choice.not_transposed);
  add("typed", choice.not_typed);
  add("mixed types", choice.not_mixed);
  add("chain", choice.not_chain);
  add("program in strips", choice.not_strips);
  add("vectors", choice.not_vectors);
  return text.str();
}

}  // namespace relayout::plan
