// Permutations of contiguous tensors: those of bench/permute_cases.csv, those of a user, and two with alpha
// and beta.
#include <relayout/permute.hpp>
#include <relayout/plan_cache.hpp>

#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>

#include "bench/bench_case.hpp"
#include "bench/case_json.hpp"
#include "bench/permute_csv.hpp"
#include "bench/rotation.hpp"

namespace relayout::bench {
namespace {

/// The bytes that are read and written together. A smoke test permutes a few hundred elements.
constexpr std::int64_t kCpuBytes = 128 << 20, kSmokeBytes = 4 << 10;

/// With a beta the output is read and written.
std::int64_t bytes_of(const cases::PermuteCase& c) {
  return contiguous_operand(c.in_type, c.shape).bytes() +
         (c.scale.beta != 0 ? 2 : 1) * contiguous_operand(c.out_type, c.shape).bytes();
}

/// Halves the longest axis until the case is small enough. The properties that make a permutation hard stay:
/// short axes stay short, odd extents stay odd.
ListedPermute scaled(ListedPermute listed, std::int64_t most_bytes) {
  cases::PermuteCase& c = listed.permute;
  if (bytes_of(c) <= most_bytes) return listed;
  while (bytes_of(c) > most_bytes) {
    std::int64_t& longest = *std::max_element(c.shape.begin(), c.shape.end());
    const std::int64_t parity = longest % 2, half = longest / 2;
    longest = half % 2 == parity || half <= 1 ? half : half + parity;
  }
  listed.name += "/" + joined(c.shape);
  return listed;
}

/// The contents of the output before the first call are an operand of their own, so that the result can be
/// checked.
Prepared prepare_sum(const Stream& stream, const cases::PermuteCase& c) {
  const Operand out = contiguous_operand(c.out_type, c.out_shape());
  Prepared prepared = prepare_rotated(stream, {contiguous_operand(c.in_type, c.shape), out, out},
                                      [stream, c](const std::vector<TensorView>& views) {
                                        permute(stream, views[0], c.axes, views[2], c.scale);
                                      });
  for (std::size_t set = 0; set < prepared.memory.size(); set += 3)
    stream.copy(prepared.memory[set + 2].data(), prepared.memory[set + 1].data(),
                prepared.memory[set + 2].bytes());
  stream.synchronize();
  return prepared;
}

/// Calls permute, or a plan that is measured (untimed) on the operands of the first call.
std::function<void(const std::vector<TensorView>&)> call_of(const Stream& stream, const cases::PermuteCase& c,
                                                            PlanBy by) {
  if (by == PlanBy::estimate) {
    return [stream, c](const std::vector<TensorView>& views) {
      permute(stream, views[0], c.axes, views[1], c.scale);
    };
  }
  return [stream, c,
          measured = std::make_shared<std::optional<CopyPlan>>()](const std::vector<TensorView>& views) {
    const TensorView &in = views[0], &out = views[1];
    if (!*measured) {
      PlanCache cache;
      const CopyPlan plan = plan_permute(stream.device(), in, c.axes, out, {c.scale});
      *measured = cache.measure(stream, plan, in.data(), out.data());
    }
    (*measured)->run(stream, in.data(), out.data());
  };
}

BenchCase permute_case(const ListedPermute& listed, PlanBy by) {
  const cases::PermuteCase& c = listed.permute;
  const Operand in = contiguous_operand(c.in_type, c.shape);
  const Operand out = contiguous_operand(c.out_type, c.out_shape());
  BenchCase bench_case{"permute",
                       listed.name,
                       bytes_of(c),
                       parameters_of(c),
                       printed(c),
                       [in, out, c, by](const Stream& stream) {
                         if (c.scale.beta != 0) return prepare_sum(stream, c);
                         return prepare_rotated(stream, {in, out}, call_of(stream, c, by));
                       },
                       listed.group()};
  bench_case.measured_plan = by == PlanBy::measurement && c.scale.beta == 0;
  return bench_case;
}

std::vector<ListedPermute> with_alpha_and_beta() {
  std::vector<ListedPermute> list;
  for (const CopyScale& scale : {CopyScale{2, 0}, CopyScale{2, 1}}) {
    ListedPermute listed{scale.beta == 0 ? "alpha_f32" : "alpha_beta_f32", "alpha and beta", {}};
    listed.permute.shape = {8192, 8192};
    listed.permute.axes = {1, 0};
    listed.permute.scale = scale;
    list.push_back(listed);
  }
  return list;
}

}  // namespace

BenchCases permute_cases(Sizes sizes) { return permute_cases_by(PlanBy::estimate, sizes); }

BenchCases permute_cases_by(PlanBy by, Sizes sizes) {
  BenchCases list;
  std::vector<ListedPermute> builtin = builtin_permutes();
  for (const ListedPermute& listed : with_alpha_and_beta()) builtin.push_back(listed);
  for (const ListedPermute& listed : builtin) {
    list.push_back(permute_case(sizes == Sizes::gpu   ? listed
                                : sizes == Sizes::cpu ? scaled(listed, kCpuBytes)
                                                      : scaled(listed, kSmokeBytes),
                                by));
  }
  return list;
}

BenchCases permute_cases_of(const std::string& file, PlanBy by, Sizes sizes) {
  std::ifstream text(file);
  if (!text) throw Error(ErrorCode::invalid_argument, "could not read " + file);
  BenchCases list;
  for (const ListedPermute& listed : read_permutes(text, file))
    list.push_back(permute_case(sizes == Sizes::smoke ? scaled(listed, kSmokeBytes) : listed, by));
  return list;
}

}  // namespace relayout::bench
