#include <algorithm>
#include <limits>
#include <string>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "host/api/checks.hpp"
#include "host/api/operand_views.hpp"
#include "host/api/plan_checks.hpp"
#include "host/api/planned_for.hpp"
#include "host/plan/elementwise/row_vectors.hpp"
#include "host/plan/loop_nest.hpp"
#include "host/plan/plan_words.hpp"
#include "platform/backend.hpp"
#include "relayout/map/nest.hpp"

namespace relayout::detail {
namespace {

constexpr const char* kName = "map";

void check_compiler(const Device& device, const char* compiled_for) {
  if (device.kind() != DeviceKind::gpu) return;
  const std::string backend = device.backend().name();
  if (compiled_for != nullptr && compiled_for == backend) return;
  fail(kName, ErrorCode::unsupported,
       "the file of this call has no code for " + device.to_string() + "; compile it with " +
           (backend == "hip" ? "hipcc" : "nvcc"));
}

std::string name_of_operand(std::size_t operand) { return "operand " + std::to_string(operand + 1); }

void check_types(const MapCall& call, const std::vector<TensorView>& operands, const TensorView& out) {
  const auto check = [](const std::string& what, const TensorView& view, DType wanted) {
    if (view.dtype() == wanted) return;
    fail(kName, ErrorCode::dtype,
         what + " has elements of " + name_of(view.dtype()) + ", and the call was compiled for " +
             name_of(wanted));
  };
  for (std::size_t i = 0; i < operands.size(); ++i) check(name_of_operand(i), operands[i], call.types[i + 1]);
  check("the output", out, call.types[0]);
}

/// Rows of less than two vectors are taken element by element, neighbouring elements by neighbouring threads.
void cut_rows(int out_bytes, int width, MapNest& nest) {
  const std::int64_t length = nest.extents[nest.rank - 1];
  std::int64_t most_lead = 0;
  if (nest.out_strides[nest.rank - 1] == 1 && length >= 2 * width) {
    nest.width = width;
    most_lead = plan::rows_alike(nest) ? plan::place_of(nest.out, out_bytes) % width : width - 1;
  }
  nest.row_vectors = divide_up(most_lead + length, nest.width);
  nest.vectors = nest.elements / length * nest.row_vectors;
  nest.fits_32_bits = nest.vectors <= std::numeric_limits<std::uint32_t>::max();
  const std::int64_t blocks = (nest.vectors - 1) / kMapThreads + 1;
  if (blocks > std::numeric_limits<std::int32_t>::max())
    fail(kName, ErrorCode::launch, std::to_string(blocks) + " blocks are more than a grid has");
}

}  // namespace

MapNest map_nest(const Device& device, const MapCall& call, const std::vector<TensorView>& operands,
                 const TensorView& out) {
  check_compiler(device, call.backend);
  if (operands.size() != static_cast<std::size_t>(call.operands))
    fail(kName, ErrorCode::invalid_argument,
         std::to_string(operands.size()) + " operands; the call was compiled for " +
             std::to_string(call.operands));
  check_types(call, operands, out);
  const std::vector<TensorView> tensors = broadcast_operands(kName, operands, out);
  check_distinct(kName, out);
  std::vector<const void*> inputs;
  for (const TensorView& tensor : tensors) inputs.push_back(tensor.data());
  check_operand_memory(kName, tensors, inputs, call.operands, out, out.data(), name_of_operand);

  MapNest result;
  const plan::LoopNest nest = plan::normalise(plan::make_nest(out, tensors));
  result.elements = nest.elements();
  if (result.elements == 0) return result;
  result.rank = std::max(nest.rank(), 1);
  result.extents[0] = result.out_strides[0] = 1;  // of a single element
  std::copy(nest.extents.begin(), nest.extents.end(), result.extents);
  std::copy(nest.strides[0].begin(), nest.strides[0].end(), result.out_strides);
  result.out = at_bytes(out.data(), nest.offsets[0] * bytes_of(out.dtype()));
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    MapOperand& operand = result.operand[t];
    std::copy(nest.strides[t + 1].begin(), nest.strides[t + 1].end(), operand.strides);
    operand.data = at_bytes(tensors[t].data(), nest.offsets[t + 1] * bytes_of(tensors[t].dtype()));
  }
  cut_rows(static_cast<int>(size_of(out.dtype())), call.width, result);
  return result;
}

void check_map_stream(const Device& device, const Stream& stream) {
  check_plan_stream(kName, device, stream);
}

std::string explain_map(const Device& device, const MapCall& call, const MapNest& nest) {
  plan::SentenceStream text;
  text << kName << " to " << name_of(call.types[0]) << ", of";
  for (int i = 1; i <= call.operands; ++i) text << (i > 1 ? ", " : " ") << name_of(call.types[i]);
  text << ".\n";
  if (nest.elements == 0) return text.str() + "No elements: nothing to do.\n";
  const auto numbers = [&](const std::int64_t* values) {
    return to_string(Dims(values, values + nest.rank));
  };
  text << "Loop nest: extents " << numbers(nest.extents) << ", the output's strides "
       << numbers(nest.out_strides);
  for (int i = 0; i < call.operands; ++i)
    text << ", operand " << i + 1 << "'s " << numbers(nest.operand[i].strides);
  if (is_native(device)) {
    text << ".\nThe functor's own loop over pieces of the output, on the processor's threads.\n";
  } else {
    text << ".\nThe functor's own kernel: a thread for each of " << nest.vectors << " vectors of "
         << nest.width << " elements, " << nest.row_vectors << " a row.\n";
  }
  return text.str();
}

}  // namespace relayout::detail
