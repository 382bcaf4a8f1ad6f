#include "bench/compare/column.hpp"

#include <cmath>
#include <fstream>
#include <limits>
#include <set>

#include <relayout/error.hpp>

namespace relayout::bench {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::invalid_argument, why); }

/// A value as text; empty where there is none.
std::string words(const Json& object, const char* key) {
  if (!object.is_object() || !object.contains(key) || object[key].is_null()) return "";
  const Json& value = object[key];
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string device_words(const Json& device) {
  if (device.is_string()) return device.get<std::string>();
  std::string text = words(device, "kind");
  for (const std::string& part : {words(device, "name"), words(device, "architecture")}) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

/// For the parser: what works on the values calls itself for each level, so that a file could exhaust the
/// stack.
bool no_deep_nesting(int depth, Json::parse_event_t, Json&) {
  constexpr int kMaxDepth = 64;
  if (depth > kMaxDepth) refuse("values are nested more than " + std::to_string(kMaxDepth) + " levels deep");
  return true;
}

std::int64_t whole_number(const Json& value, const char* what) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMax)
    refuse(std::string(what) + " is " + value.dump() + ", no whole number from 0 to " + std::to_string(kMax));
  return value.get<std::int64_t>();
}

double positive(const Json& value, const char* what) {
  const double seconds = value.is_number() ? value.get<double>() : 0;
  if (!(seconds > 0) || !std::isfinite(seconds)) refuse(std::string(what) + " is no positive number");
  return seconds;
}

/// The least or the largest number of a map from names to seconds; 0 where the row has no such map.
double extreme_seconds(const Json& row, const char* key, bool most) {
  double found = 0;
  if (!row.contains(key)) return found;
  for (const Json& value : row.at(key)) {
    const double seconds = positive(value, key);
    if (found == 0 || (seconds > found) == most) found = seconds;
  }
  return found;
}

/// Fills in the case, not yet its time.
Timed case_of(const Json& row) {
  Timed timed;
  timed.suite = row.at("suite").get<std::string>();
  timed.group = words(row, "group");
  timed.bytes = whole_number(row.at("bytes"), "bytes");
  timed.parameters = row.at("parameters");
  const double copy = extreme_seconds(row, "copy_seconds", false);
  timed.reference_seconds = copy > 0 ? copy : extreme_seconds(row, "part_seconds", true);
  return timed;
}

/// Takes the figures from `result`: a relayout row itself, or the result of one peer in it.
void add_time(Timed& timed, const Json& result) {
  timed.error = words(result, "error");
  if (result.contains("seconds")) timed.seconds = positive(result["seconds"], "seconds");
}

void add_row(std::vector<Column>& columns, const std::vector<std::string>& peers, const Json& row,
             const std::string& name) {
  Timed timed = case_of(row);
  timed.name = name;
  if (peers.empty()) {
    add_time(timed, row);
    columns.front().rows.push_back(std::move(timed));
    return;
  }
  for (std::size_t i = 0; i < peers.size(); ++i) {
    if (!row.at("peers").contains(peers[i])) continue;  // the peer has no route for such a case
    Timed of_peer = timed;
    add_time(of_peer, row["peers"][peers[i]]);
    columns[i].rows.push_back(std::move(of_peer));
  }
}

Column described(const std::string& file, const Json& document) {
  Column column;
  column.label = file;
  const auto fact = [&column](const char* name, const std::string& text) {
    column.facts.emplace_back(name, text.empty() ? "not stated" : text);
  };
  const Json device = document.value("device", Json());
  fact("device", device_words(device));
  fact("driver", words(device, "driver"));
  fact("compiler", words(document, "compiler"));
  fact("commit or version", words(document, "commit"));
  fact("host threads", words(document, "host_threads"));
  fact("date", words(document, "date"));
  return column;
}

std::vector<Column> columns_of(const std::string& file, const Json& document,
                               std::vector<std::string>& peers) {
  if (!document.contains("peers")) return {described(file, document)};
  std::vector<Column> columns;
  for (const auto& [peer, about] : document["peers"].items()) {
    peers.push_back(peer);
    columns.push_back(described(file, document));
    columns.back().label += ": " + peer;
    for (auto& [name, text] : columns.back().facts) {
      if (name == "commit or version") text = words(about, "version");
      if (name == "compiler") text = words(about, "runtime");
    }
  }
  if (columns.empty()) refuse(file + " has timed no peer");
  return columns;
}

}  // namespace

std::vector<Column> read_columns(const std::string& file) {
  std::ifstream text(file);
  if (!text) refuse("could not read " + file);
  std::string where = file;
  try {
    const Json document = Json::parse(text, no_deep_nesting);
    if (!document.is_object() || !document.contains("rows") || !document["rows"].is_array())
      refuse("there is no list 'rows': it is no result of relayout_bench --json or peers.py --json");
    std::vector<std::string> peers;
    std::vector<Column> columns = columns_of(file, document, peers);
    std::set<std::string> names;
    for (const Json& row : document["rows"]) {
      where = file;
      const std::string name = row.at("name").get<std::string>();
      where = file + ", row " + name;
      if (!names.insert(name).second) refuse("the row is there twice");
      add_row(columns, peers, row, name);
    }
    return columns;
  } catch (const Json::exception& error) {
    refuse(where + ": " + error.what());
  } catch (const Error& error) {
    refuse(where + ": " + error.what());
  }
}

}  // namespace relayout::bench
