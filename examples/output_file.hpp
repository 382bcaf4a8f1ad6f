// Output files that appear whole or not at all.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace example {

/// Throws InputError when `path` cannot become a file: it is a directory, or its folder is missing or not
/// writable.
void check_output_path(const std::string& path);

/// Files written to temporary names beside their final ones; commit() renames all of them, and without it the
/// destructor removes them.
class OutputFiles {
 public:
  OutputFiles() = default;
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;
  ~OutputFiles();

  /// Calls write with the opened temporary file. Throws InputError when it cannot be written wholly.
  void add(const std::string& path, const std::function<void(std::ostream&)>& write);
  void commit();

 private:
  struct File {
    std::string temporary, final;
  };
  std::vector<File> files_;
};

}  // namespace example
