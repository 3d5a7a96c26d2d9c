// Any OpenCL 1.2 device: GPUs and CPUs of all vendors, PoCL. Kernels go to the driver as OpenCL C;
// its program binaries are what the cache keeps.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device/device.h"

namespace xlog::device {

Result<std::unique_ptr<Device>> open_opencl_device(int index, const OpenOptions& options);

// Why a device with these float abilities (CL_DEVICE_SINGLE_FP_CONFIG) cannot compute the kernel
// exactly, or "".
std::string opencl_inexact(const kernel::Graph& graph, kernel::Id kernel, uint64_t float_config);

// How many devices there are; an error says why none can be used.
Result<int> count_opencl_devices();

}  // namespace xlog::device
