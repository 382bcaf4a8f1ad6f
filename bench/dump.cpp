#include "bench/dump.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "bench/report.hpp"

namespace relayout::bench {
namespace {

Json dump_tensor(const Stream& stream, const TensorView& view, const std::filesystem::path& folder,
                 const std::string& file) {
  std::vector<char> bytes(static_cast<std::size_t>(view.elements()) * size_of(view.dtype()));
  stream.copy(bytes.data(), view.data(), bytes.size());
  stream.synchronize();
  std::ofstream out(folder / file, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw std::runtime_error("could not write " + (folder / file).string());
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
  std::ofstream out(std::filesystem::path(folder) / "cases.json");
  out << list.dump(2) << '\n';
  out.close();
  if (!out) throw std::runtime_error("could not write " + folder + "/cases.json");
}

}  // namespace relayout::bench
