// Output files that appear whole or not at all.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace example {

/// Throws InputError when one of `paths` cannot become a file (it is a directory or a device, or its folder
/// is missing or not writable), or when two of them are one file, by whatever names.
void check_output_paths(const std::vector<std::string>& paths);

/// Files written to temporary names beside their final ones; commit() puts all of them in place, and without
/// it the destructor removes them. While an object lives, a signal that ends the program (SIGINT, SIGTERM,
/// SIGHUP) removes them, too. A symbolic link is followed, and the mode of a file that is replaced is kept.
/// One object at a time.
class OutputFiles {
 public:
  OutputFiles();
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;
  ~OutputFiles();

  /// Calls write with the opened temporary file. Throws InputError when it cannot be written wholly.
  void add(const std::string& path, const std::function<void(std::ostream&)>& write);
  /// All or none: when a file cannot be put in place, those before it are what they were. Throws InputError
  /// then.
  void commit();

 private:
  struct File {
    std::string temporary, final, given;
  };
  std::vector<File> files_;
};

}  // namespace example
