// Does again what a recording says (record.h), on any device, and finds the first difference.
//
//   Result<ReplayReport> report = replay("run.log", *device);
//   if (report->difference) puts(report->difference->text().c_str());
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "device/device.h"

namespace xlog::device {

struct Difference {
  uint64_t launch = 0;    // which one of the run, from 1
  std::string kernel;     // its name
  std::string parameter;  // the buffer, or what else differs
  std::optional<uint64_t> index;
  std::string expected, actual;

  // "launch 3, kernel mix, buffer out[17]: 5:u32 was recorded, 6:u32 is computed"
  std::string text() const;
};

struct ReplayReport {
  std::string recorded_on;    // the device's name
  uint64_t launches = 0;      // done again
  uint64_t compared = 0;      // buffers after launches
  uint64_t not_compared = 0;  // those of mode race: their order is a matter of timing
  bool complete = false;      // the recording has an end
  std::optional<Difference> difference;
};

// Stops at the first difference. An error: the recording cannot be read, or the device cannot do
// what it says.
Result<ReplayReport> replay(const std::string& path, Device& device);

}  // namespace xlog::device
