# shellcheck shell=bash
# Shared by quickstart, .ci/run and tools/: words for people, packages, the build. Sourced by scripts that have
# set -euo pipefail; $project is the checkout.

project=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

# Messages go to stderr: stdout belongs to the program that is run.
say() { printf '== %s\n' "$*" >&2; }
# Set-up failures exit with 3; 1 and 2 are the example's own.
die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 3
}

# ~ is the user's home folder without HOME, too.
cache_folder() {
  local caches=${XDG_CACHE_HOME:-~/.cache}
  printf '%s/relayout\n' "$caches"
}

# source_files PATTERN...: those of the checkout, one a line; in a copy without .git those that do not lie in build/.
source_files() {
  local pattern paths=()
  if [ -e "$project/.git" ]; then
    git -C "$project" ls-files -- "$@"
  else
    for pattern in "$@"; do paths+=(-o -path "./$pattern"); done
    (cd "$project" && find . -path ./build -prune -o -type f \( "${paths[@]:1}" \) -printf '%P\n')
  fi
}

# as_root COMMAND...: runs it directly as root, else by sudo.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo -- "$@"
  else
    die "you are not root and there is no sudo: run '$*' as root, then try again"
  fi
}

# missing_packages NAME...: prints those that are not installed, one a line.
missing_packages() {
  local name
  for name in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || printf '%s\n' "$name"
  done
}

# ensure_packages NAME...: installs the missing ones; without any it needs no network.
ensure_packages() {
  local missing
  command -v apt-get >/dev/null ||
    die "this is no Debian-like system (no apt-get): install what Debian calls $*, then build with 'cmake --workflow --preset cpu'"
  mapfile -t missing < <(missing_packages "$@")
  [ "${#missing[@]}" -gt 0 ] || return 0
  say "installing Debian packages: ${missing[*]}"
  [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null ||
    die "you are not root and there is no sudo: have root run 'apt-get install ${missing[*]}', then try again"
  as_root apt-get update -q >&2 || say "'apt-get update' failed; trying with the package lists that are here"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}" >&2 ||
    die "could not install ${missing[*]}: apt-get's reason is above"
}

# What building and testing needs everywhere, as Debian names it.
build_packages=(g++ ccache cmake ninja-build libgtest-dev libboost-context-dev libopenblas-dev libcli11-dev nlohmann-json3-dev
  python3 python3-numpy)

# What the package for Python needs besides, to be built, installed and tested.
python_packages=(python3-dev python3-pip python3-venv)

# What is compiled again, unchanged, comes from a cache.
compiler_launchers=("-DCMAKE_CXX_COMPILER_LAUNCHER=$project/tools/compile-cached"
  "-DCMAKE_CUDA_COMPILER_LAUNCHER=$project/tools/compile-cached")

# lock_build FOLDER: makes it, and lets no other run build there until this one has ended, in whatever way it ends. The lock
# is file descriptor 8, which programs that may hang are not given.
locked_build=
lock_build() {
  [ "$locked_build" != "$1" ] || return 0
  { mkdir -p "$1" && exec 8>"$1.lock"; } || die "cannot make $1 and $1.lock: a build needs a checkout that can be written to"
  if ! flock --nonblock 8; then
    say "another run builds or tests in $1: waiting for it to end ('fuser $1.lock' prints its processes)"
    flock 8
  fi
  locked_build=$1
}

# configure PRESET [cmake argument...]: quietly; its messages are shown when it fails.
configure() {
  local preset=$1 folder=$project/build/$1 fresh=()
  shift
  lock_build "$folder"
  if [ -e "$folder/CMakeCache.txt" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$project" "$folder/CMakeCache.txt"; then
    fresh=(--fresh)
  fi
  (cd "$project" && cmake --preset "$preset" "${fresh[@]}" "${compiler_launchers[@]}" "$@") \
    >"$folder/configure.log" 2>&1 || {
    cat "$folder/configure.log" >&2
    die "CMake could not configure the build '$preset', see above"
  }
}
