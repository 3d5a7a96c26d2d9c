// NVIDIA GPUs through the driver alone (cuda_api.h). Kernels come as PTX from LLVM, or as CUDA C
// through NVRTC; the driver makes them machine code, which the cache keeps.
#pragma once

#include <memory>
#include <string>

#include "device/device.h"

namespace xlog::device {

// `library`: another driver than the system's, for tests.
Result<std::unique_ptr<Device>> open_cuda_device(int index, const OpenOptions& options,
                                                 const std::string& library = "");

// How many GPUs there are; an error says why none can be used.
Result<int> count_cuda_devices(const std::string& library = "");

}  // namespace xlog::device
