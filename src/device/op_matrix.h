// Every op on a device against the oracle: the table "op x device" of docs/kernel_ops.md, and a
// quick health check of a new device or driver.
#pragma once

#include <string>
#include <vector>

#include "device/device.h"
#include "kernel/op.h"

namespace xlog::device {

enum class OpOutcome : uint8_t {
  Same,       // the oracle's bytes
  Declined,   // the device says that it cannot
  Different,  // other bytes: a bug of ours or of the driver
};

struct OpCell {
  kernel::Op op{};
  kernel::Type type{};  // of the operands; Void for ops that have no type
  OpOutcome outcome{};
  std::string detail;  // why it was declined, or where it differs
};

// Edge values of a type: what the ops are tried on.
std::vector<Scalar> edge_values(kernel::Type type);

// All ops of the kernel tier that compute something, in the order of op.def.
std::vector<OpCell> test_ops(Device& device);

}  // namespace xlog::device
