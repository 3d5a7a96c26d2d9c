// NVIDIA's run-time compiler, opened at run time: from CUDA C to PTX. No GPU is needed.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace xlog::device {

// "NVRTC 13.0". An error says where the library was looked for.
Result<std::string> nvrtc_version();

// `arch` as NVRTC names it: "sm_90", "compute_80". Compiles for exact IEEE arithmetic.
Result<std::string> nvrtc_to_ptx(const std::string& source, std::string_view arch);

}  // namespace xlog::device
