# shellcheck shell=bash
# find_gpu: the best back end that this machine can build and run. Sourced after common.sh.
# Sets backend (cuda, hip or cpu) and gpu_arguments (for cmake), and says what it found.

# nvcc_path: nothing where there is none.
nvcc_path() { command -v nvcc || ls "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" 2>/dev/null || true; }

# "90" for compute capability 9.0, one line per kind of GPU; nothing where no driver answers.
nvidia_architectures() {
  nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d '. ' | grep -E '^[0-9]+$' | sort -u
}

# "gfx942", one line per kind of GPU: the kernel driver's topology has 90402 for it, and 0 for a processor.
amd_architectures() {
  local version
  [ -e /dev/kfd ] || return 0
  sed -n 's/^gfx_target_version //p' /sys/class/kfd/kfd/topology/nodes/*/properties 2>/dev/null | sort -u |
    while read -r version; do
      [ "$version" -eq 0 ] || printf 'gfx%d%x%x\n' $((version / 10000)) $((version / 100 % 100)) $((version % 100))
    done
}

# hip_arguments FOLDER: how cmake finds HIP 5.7 or newer, one argument a line; nothing where there is none. AMD's own
# ROCm lies in one folder; Debian spreads it, so CMake is shown a folder of the expected form that links there.
hip_arguments() {
  local folder=$1 rocm=${ROCM_PATH:-/opt/rocm} version clang packages
  if [ -x "$rocm/llvm/bin/clang++" ]; then
    printf '%s\n' "-DCMAKE_HIP_COMPILER=$rocm/llvm/bin/clang++" "-DCMAKE_PREFIX_PATH=$rocm"
    return
  fi
  version=$(hipconfig --version 2>/dev/null) || return 0
  printf '5.7\n%s\n' "$version" | sort -C -V || return 0
  clang=$(hipcc --version | sed -n 's/.*clang version \([0-9]*\).*/\1/p')
  packages=/usr/lib/$(uname -m)-linux-gnu/cmake
  mkdir -p "$folder/lib"
  ln -sfn "$packages" "$folder/lib/cmake"
  printf '%s\n' "-DCMAKE_HIP_COMPILER=/usr/bin/clang++-$clang" "-DCMAKE_HIP_COMPILER_ROCM_ROOT=$folder" \
    "-DCMAKE_PREFIX_PATH=$packages"
}

# use_nvidia ARCHITECTURE...: false where the GPUs are there but cannot be built for.
use_nvidia() {
  local nvcc version architecture list
  nvcc=$(nvcc_path)
  if [ -z "$nvcc" ]; then
    say "an NVIDIA GPU is here, but no nvcc: install CUDA Toolkit 12 or newer (and put nvcc into PATH) to use it"
    return 1
  fi
  version=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p') || true
  if ! printf '12\n%s\n' "$version" | sort -C -V; then
    say "an NVIDIA GPU is here, but $nvcc is of CUDA Toolkit ${version:-unknown}: install version 12 or newer (and put its nvcc into PATH) to use it"
    return 1
  fi
  list=$("$nvcc" --list-gpu-arch)
  for architecture in "$@"; do
    if [ "$architecture" -lt 80 ]; then
      say "an NVIDIA GPU of architecture sm_$architecture is here, and relayout needs sm_80 (compute capability 8.0) or newer"
      return 1
    fi
    if ! grep -qx "compute_$architecture" <<<"$list"; then
      say "an NVIDIA GPU of architecture sm_$architecture is here, but $nvcc does not compile for it"
      return 1
    fi
  done
  backend=cuda
  gpu_arguments=("-DCMAKE_CUDA_COMPILER=$nvcc" "-DCMAKE_CUDA_ARCHITECTURES=$(IFS=';' && printf '%s' "$*")")
}

# use_amd ARCHITECTURE...: likewise.
use_amd() {
  if ! [ -w /dev/kfd ]; then
    say "an AMD GPU is here, but you may not use it (no write access to /dev/kfd): join the groups render and video"
    return 1
  fi
  mapfile -t gpu_arguments < <(hip_arguments "$project/build/hip/rocm")
  if [ "${#gpu_arguments[@]}" -eq 0 ]; then
    say "an AMD GPU is here, but no HIP 5.7 or newer: install ROCm, or on Debian 13 hipcc and libhipblas-dev, to use it"
    return 1
  fi
  backend=hip
  gpu_arguments+=("-DCMAKE_HIP_ARCHITECTURES=$(IFS=';' && printf '%s' "$*")")
}

find_gpu() {
  local nvidia amd
  mapfile -t nvidia < <(nvidia_architectures)
  mapfile -t amd < <(amd_architectures)
  if [ "${#nvidia[@]}" -gt 0 ] && use_nvidia "${nvidia[@]}"; then
    say "NVIDIA GPU found (sm_${nvidia[*]}): back end cuda"
  elif [ "${#amd[@]}" -gt 0 ] && use_amd "${amd[@]}"; then
    say "AMD GPU found (${amd[*]}): back end hip"
  else
    backend=cpu
    gpu_arguments=()
    say "no GPU that can be used: back end cpu"
  fi
}
