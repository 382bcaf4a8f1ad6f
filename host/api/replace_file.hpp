// Files that are replaced whole or not at all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relayout {

/// Writes `text` to a new file beside `path` and renames that to `path`, so that a failure at any point
/// leaves what was there, and two processes may write at once: the last one stays. A symbolic link is
/// followed, the mode of a file that is replaced is kept, and what is no regular file (a pipe, a terminal) is
/// written straight to. Throws invalid_argument, with `path` and the system's reason, when that fails.
void replace_file(const std::string& path, std::string_view text);

/// Before work whose results go into the files `written`: throws invalid_argument where one of them has no
/// folder or cannot be made there, or is another of them or one of the files `read`, by whatever names. Empty
/// names are left out.
void check_files(const std::vector<std::string>& written, const std::vector<std::string>& read);

}  // namespace relayout
