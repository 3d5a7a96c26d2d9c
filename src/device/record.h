// A device that writes down every call, so that another device can do the same again (replay.h):
// the way to find out which kernel, buffer and index first differ.
//
//   Result<std::unique_ptr<Device>> device = record_device(std::move(real), {.path = "run.log"});
//   ...                                            // as with any device
//   device->reset();                               // the log is complete
//
// The log is text with binary parts: a line for each call, then its bytes, if any. Each line ends
// in a checksum of both. Fresh memory is filled with zero here and in the replay, for otherwise
// what nobody wrote would differ. Sequences are run call by call.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device/device.h"

namespace xlog::device {

enum class RecordLevel : uint8_t {
  Calls = 1,    // what a replay needs: calls, kernels, data that was written
  Digests = 2,  // and a digest of every writable buffer after each launch
  Bytes = 3,    // and their bytes, so that the replay can name the index
};

struct RecordOptions {
  std::string path = {};
  RecordLevel level = RecordLevel::Bytes;
  uint64_t keep_bytes = uint64_t{16} << 20;  // a buffer larger than this leaves its digest alone
};

Result<std::unique_ptr<Device>> record_device(std::unique_ptr<Device> device,
                                              const RecordOptions& options);

}  // namespace xlog::device
