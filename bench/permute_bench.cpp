// Permutations of contiguous tensors: those of bench/permute_cases.csv and a user's.
#include <relayout/permute.hpp>

#include <algorithm>
#include <fstream>

#include "bench/bench_case.hpp"
#include "bench/case_json.hpp"
#include "bench/permute_csv.hpp"
#include "bench/rotation.hpp"

namespace relayout::bench {
namespace {

/// Read and written together. A smoke test permutes a few hundred elements.
constexpr std::int64_t kCpuBytes = 128 << 20, kSmokeBytes = 4 << 10;

std::int64_t bytes_of(const cases::PermuteCase& c) {
  return contiguous_operand(c.in_type, c.shape).bytes() + contiguous_operand(c.out_type, c.shape).bytes();
}

/// The longest axis is halved until the case is small enough. What makes a permutation hard stays: short
/// axes are short, and odd extents odd.
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

BenchCase permute_case(const ListedPermute& listed) {
  const cases::PermuteCase& c = listed.permute;
  const Operand in = contiguous_operand(c.in_type, c.shape);
  const Operand out = contiguous_operand(c.out_type, c.out_shape());
  BenchCase bench_case{"permute",
                       listed.name,
                       bytes_of(c),
                       parameters_of(c),
                       printed(c),
                       [in, out, axes = c.axes](const Stream& stream) {
                         return prepare_rotated(stream, {in, out},
                                                [stream, axes](const std::vector<TensorView>& views) {
                                                  permute(stream, views[0], axes, views[1]);
                                                });
                       },
                       listed.group()};
  return bench_case;
}

}  // namespace

BenchCases permute_cases(Sizes sizes) {
  BenchCases list;
  for (const ListedPermute& listed : builtin_permutes()) {
    list.push_back(permute_case(sizes == Sizes::gpu   ? listed
                                : sizes == Sizes::cpu ? scaled(listed, kCpuBytes)
                                                      : scaled(listed, kSmokeBytes)));
  }
  return list;
}

BenchCases permute_cases_of(const std::string& file, Sizes sizes) {
  std::ifstream text(file);
  if (!text) throw Error(ErrorCode::invalid_argument, "could not read " + file);
  BenchCases list;
  for (const ListedPermute& listed : read_permutes(text, file))
    list.push_back(permute_case(sizes == Sizes::smoke ? scaled(listed, kSmokeBytes) : listed));
  return list;
}

}  // namespace relayout::bench
