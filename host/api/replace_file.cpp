#include "host/api/replace_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "relayout/error.hpp"

namespace relayout {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path) {
  const std::string reason = std::generic_category().message(errno);
  throw Error(ErrorCode::invalid_argument, path + ": the file cannot be written: " + reason);
}

/// The file that `given` names at the end of its symbolic links, which need not exist.
fs::path target_of(const std::string& given) {
  constexpr int kMaxLinks = 40;  // as many as Linux follows
  fs::path path = given;
  std::error_code error;
  for (int i = 0; fs::is_symlink(path, error); ++i) {
    if (i == kMaxLinks) {
      errno = ELOOP;
      fail(given);
    }
    path = path.parent_path() / fs::read_symlink(path, error);
  }
  return path;
}

fs::path folder_of(const fs::path& path) {
  const fs::path folder = path.parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

/// Compares the files themselves where both exist, otherwise their names without links.
bool are_one_file(const std::string& a, const std::string& b) {
  std::error_code error;
  const fs::path first = target_of(a), second = target_of(b);
  if (fs::exists(first, error) && !fs::is_regular_file(first, error)) return false;  // a terminal, say
  if (fs::equivalent(first, second, error)) return true;
  return first.filename() == second.filename() && fs::equivalent(folder_of(first), folder_of(second), error);
}

void check_writable(const std::string& path) {
  std::error_code error;
  const fs::path target = target_of(path);
  const bool straight = fs::exists(target, error) && !fs::is_regular_file(target, error);
  if (straight && fs::is_directory(target, error)) {
    errno = EISDIR;
    fail(path);
  }
  if (::access(straight ? target.c_str() : folder_of(target).c_str(), W_OK) != 0) fail(path);
}

/// An open file. A temporary one has a name, and goes with this object.
class Descriptor {
 public:
  Descriptor(int number, std::string temporary) : number_(number), temporary_(std::move(temporary)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  bool write(std::string_view text) {
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t count = ::write(number_, text.data() + done, text.size() - done);
      if (count < 0 && errno != EINTR) return false;
      if (count > 0) done += static_cast<std::size_t>(count);
    }
    return true;
  }
  bool set_mode(mode_t mode) { return ::fchmod(number_, mode) == 0; }
  /// Some systems report a full disk here only.
  bool close() {
    const int number = number_;
    number_ = -1;
    return ::close(number) == 0;
  }
  bool rename_to(const char* path) {
    if (::rename(temporary_.c_str(), path) != 0) return false;
    temporary_.clear();
    return true;
  }

 private:
  int number_;
  std::string temporary_;
};

/// A new file in the folder, whose name is short whatever the final one is.
Descriptor make_temporary(const fs::path& folder, const std::string& path) {
  static std::atomic<unsigned> count{0};
  for (;;) {
    const std::string name =
        ".relayout-" + std::to_string(::getpid()) + "-" + std::to_string(count++) + ".part";
    const std::string temporary = (folder / name).string();
    const int number = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (number >= 0) return Descriptor(number, temporary);
    if (errno != EEXIST) fail(path);
  }
}

}  // namespace

void replace_file(const std::string& path, std::string_view text) {
  const std::string target = target_of(path).string();
  struct stat existing {};
  const bool exists = ::stat(target.c_str(), &existing) == 0;
  if (exists && !S_ISREG(existing.st_mode)) {
    const int number = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
    Descriptor file(number, "");
    if (number < 0 || !file.write(text) || !file.close()) fail(path);
    return;
  }
  Descriptor file = make_temporary(fs::path(target).parent_path(), path);
  if (exists && !file.set_mode(existing.st_mode & 07777)) fail(path);
  if (!file.write(text) || !file.close() || !file.rename_to(target.c_str())) fail(path);
}

void check_files(const std::vector<std::string>& written, const std::vector<std::string>& read) {
  const auto refuse_if_one = [](const std::string& path, const std::string& other, const char* what) {
    if (other.empty() || !are_one_file(path, other)) return;
    throw Error(ErrorCode::invalid_argument,
                path + " cannot be written, because it is the " + what + " " + other);
  };
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (written[i].empty()) continue;
    check_writable(written[i]);
    for (const std::string& other : read) refuse_if_one(written[i], other, "input");
    for (std::size_t k = 0; k < i; ++k) refuse_if_one(written[i], written[k], "other result");
  }
}

}  // namespace relayout
