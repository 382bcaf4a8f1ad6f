#include "bench/dump.hpp"

#include <filesystem>

#include "bench/report.hpp"
#include "host/api/replace_file.hpp"

namespace relayout::bench {
namespace {

Json dump_tensor(const Stream& stream, const TensorView& view, const std::filesystem::path& folder,
                 const std::string& file) {
  std::vector<char> bytes(static_cast<std::size_t>(view.elements()) * size_of(view.dtype()));
  stream.copy(bytes.data(), view.data(), bytes.size());
  stream.synchronize();
  replace_file((folder / file).string(), {bytes.data(), bytes.size()});
  return {
      {"file", file}, {"type", name_of(view.dtype())}, {"shape", view.shape()}, {"strides", view.strides()}};
}

}  // namespace

void dump_cases(const Stream& stream, const BenchCases& cases, const std::string& folder) {
  constexpr std::int64_t kMaxBytes = 64 << 20;
  std::filesystem::create_directories(folder);
  Json list = cases_json(cases);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].bytes > kMaxBytes) {
      throw Error(ErrorCode::invalid_argument, cases[i].row() + " has " + std::to_string(cases[i].bytes) +
                                                   " bytes, too many to dump; use --smoke or --filter");
    }
    const Prepared prepared = cases[i].prepare(stream);
    prepared.calls.front()();
    const std::string number = std::to_string(i);
    Json& row = list["rows"][i];
    row["inputs"] = Json::array();
    for (std::size_t k = 0; k < prepared.inputs.size(); ++k)
      row["inputs"].push_back(
          dump_tensor(stream, prepared.inputs[k], folder, number + "-in" + std::to_string(k)));
    row["output"] = dump_tensor(stream, prepared.output, folder, number + "-out");
  }
  replace_file(folder + "/cases.json", list.dump(2) + '\n');
}

}  // namespace relayout::bench
