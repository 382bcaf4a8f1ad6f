#include "output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "input_error.hpp"

namespace example {
namespace {

namespace fs = std::filesystem;

constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};

/// What a signal's handler reads, which may run at any time and in any thread: the names that it removes,
/// each of which counts from when its first character is set (last), and whether files are taking each
/// other's places. It then leaves its number in `pending`, for commit() to end with.
constexpr std::size_t kMaxNames = 16;
char temporary_names[kMaxNames][PATH_MAX];
std::atomic<bool> committing{false};
std::atomic<int> pending{0};
std::array<struct sigaction, kSignals.size()> actions_before;

void forget_all() {
  for (auto& name : temporary_names) *static_cast<volatile char*>(name) = 0;
}

/// Returns whether there was room.
bool remember(const std::string& name) {
  if (name.size() >= PATH_MAX) return false;
  for (auto& slot : temporary_names) {
    if (slot[0] != 0) continue;
    std::memcpy(slot + 1, name.c_str() + 1, name.size());
    *static_cast<volatile char*>(slot) = name[0];
    return true;
  }
  return false;
}

extern "C" void remove_and_end(int number) {
  if (committing) {
    pending = number;
    return;
  }
  for (const auto& name : temporary_names) {
    if (name[0] != 0) ::unlink(name);
  }
  std::signal(number, SIG_DFL);
  std::raise(number);
}

/// Signals wait while this lives.
class Commit {
 public:
  Commit() { committing = true; }
  Commit(const Commit&) = delete;
  Commit& operator=(const Commit&) = delete;
  ~Commit() {
    committing = false;
    if (const int number = pending.exchange(0)) std::raise(number);
  }
};

fs::path folder_of(const fs::path& path) {
  const fs::path folder = path.parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

/// The file that `given` names at the end of its symbolic links, which need not exist.
fs::path target_of(const std::string& given) {
  constexpr int kMaxLinks = 40;  // as many as Linux follows
  fs::path path = given;
  std::error_code error;
  for (int i = 0; fs::is_symlink(path, error); ++i) {
    if (i == kMaxLinks)
      throw InputError(given + ": the file cannot be written, because its symbolic links lead in a circle.");
    path = path.parent_path() / fs::read_symlink(path, error);
  }
  return path;
}

void check_output_path(const std::string& path) {
  std::error_code error;
  const fs::path target = target_of(path), folder = folder_of(target);
  if (!fs::is_directory(folder, error))
    throw InputError(path + ": the file cannot be written, because there is no folder " + folder.string() +
                     ".");
  if (fs::exists(target, error) && !fs::is_regular_file(target, error)) {
    throw InputError(
        path + ": the file cannot be written, because something that is no regular file has this name.");
  }
  if (::access(folder.c_str(), W_OK) != 0) {
    throw InputError(path + ": the file cannot be written, because the folder " + folder.string() +
                     " is read-only.");
  }
}

/// By the file itself where both exist, else by the names without links.
bool are_one_file(const std::string& a, const std::string& b) {
  std::error_code error;
  const fs::path first = target_of(a), second = target_of(b);
  if (fs::equivalent(first, second, error)) return true;
  return first.filename() == second.filename() && fs::equivalent(folder_of(first), folder_of(second), error);
}

/// A name of its own in the folder of `target`, short whatever that one is; the file exists then.
std::string make_temporary(const fs::path& target, const std::string& given) {
  for (int number = 0;; ++number) {
    const fs::path name = ".relayout-" + std::to_string(::getpid()) + "-" + std::to_string(number) + ".part";
    const std::string path = (folder_of(target) / name).string();
    // Before it exists, so that no signal finds it unknown.
    if (!remember(path)) throw InputError(given + ": the file's name is too long.");
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) {
      ::close(file);
      return path;
    }
    if (errno != EEXIST)
      throw InputError(given + ": the file cannot be written: " + std::generic_category().message(errno) +
                       ".");
  }
}

/// The file that a rename replaced, under a second name, so that it can come back.
struct Replaced {
  std::string final, kept;
};

}  // namespace

void check_output_paths(const std::vector<std::string>& paths) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    check_output_path(paths[i]);
    for (std::size_t k = 0; k < i; ++k) {
      if (are_one_file(paths[k], paths[i]))
        throw InputError(paths[i] + ": two outputs cannot go into the same file; the other is " + paths[k] +
                         ".");
    }
  }
}

OutputFiles::OutputFiles() {
  struct sigaction action {};
  action.sa_handler = remove_and_end;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &actions_before[i]);
    if (actions_before[i].sa_handler == SIG_DFL) sigaction(kSignals[i], &action, nullptr);
  }
}

OutputFiles::~OutputFiles() {
  for (const File& file : files_) ::unlink(file.temporary.c_str());
  forget_all();
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &actions_before[i], nullptr);
}

void OutputFiles::add(const std::string& path, const std::function<void(std::ostream&)>& write) {
  const fs::path target = target_of(path);
  files_.push_back({make_temporary(target, path), target.string(), path});
  struct stat existing {};
  if (::stat(target.c_str(), &existing) == 0)
    ::chmod(files_.back().temporary.c_str(), existing.st_mode & 07777);
  std::ofstream file(files_.back().temporary, std::ios::binary | std::ios::trunc);
  if (file) write(file);
  file.close();
  if (!file) throw InputError(path + ": the file cannot be written; the disk may be full.");
}

void OutputFiles::commit() {
  const Commit signals_wait;
  std::vector<Replaced> replaced;
  std::error_code ignored;
  for (const File& file : files_) {
    // The old file keeps a second name until all new ones are in place.
    const std::string kept = file.temporary + ".old";
    const bool existed = ::link(file.final.c_str(), kept.c_str()) == 0;
    std::error_code error;
    if (!existed && errno != ENOENT) fs::copy_file(file.final, kept, error);
    if (!error) fs::rename(file.temporary, file.final, error);
    if (!error) {
      replaced.push_back({file.final, existed || fs::exists(kept, ignored) ? kept : ""});
      continue;
    }
    ::unlink(kept.c_str());
    for (const Replaced& before : replaced) {
      if (before.kept.empty())
        ::unlink(before.final.c_str());
      else
        fs::rename(before.kept, before.final, ignored);
    }
    throw InputError(file.given + ": the file cannot be given its final name: " + error.message() + ".");
  }
  for (const Replaced& file : replaced) {
    if (!file.kept.empty()) ::unlink(file.kept.c_str());
  }
  files_.clear();
  forget_all();
}

}  // namespace example
