#include "output_file.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "input_error.hpp"

namespace example {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

}  // namespace

void check_output_path(const std::string& path) {
  std::error_code error;
  const fs::path folder = folder_of(path);
  if (!fs::is_directory(folder, error)) {
    throw InputError(path + ": the file cannot be written, because there is no folder " + folder.string() +
                     ".");
  }
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
    throw InputError(
        path + ": the file cannot be written, because something that is no regular file has this name.");
  }
  if (::access(folder.c_str(), W_OK) != 0) {
    throw InputError(path + ": the file cannot be written, because the folder " + folder.string() +
                     " is read-only.");
  }
}

OutputFiles::~OutputFiles() {
  for (const File& file : files_) {
    std::error_code ignored;
    fs::remove(file.temporary, ignored);
  }
}

void OutputFiles::add(const std::string& path, const std::function<void(std::ostream&)>& write) {
  const fs::path name = "." + fs::path(path).filename().string() + ".part" + std::to_string(::getpid());
  files_.push_back({(folder_of(path) / name).string(), path});
  std::ofstream file(files_.back().temporary, std::ios::binary | std::ios::trunc);
  if (file) write(file);
  file.close();
  if (!file) throw InputError(path + ": the file cannot be written; is the disk full?");
}

void OutputFiles::commit() {
  std::vector<std::string> renamed;
  for (const File& file : files_) {
    std::error_code error;
    fs::rename(file.temporary, file.final, error);
    if (error) {
      std::error_code ignored;
      for (const std::string& path : renamed) fs::remove(path, ignored);
      throw InputError(file.final + ": the file cannot be given its final name: " + error.message() + ".");
    }
    renamed.push_back(file.final);
  }
  files_.clear();
}

}  // namespace example
