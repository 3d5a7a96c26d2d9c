// What a launch must know of a kernel, and how the arguments of a launch are held against it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "kernel/passes.h"

namespace xlog::device {

struct Parameter {
  std::string name;
  kernel::Type type;
  kernel::Mode mode;
};

struct Signature {
  std::string kernel;  // its name
  std::vector<Parameter> params;
  uint32_t size_param = kernel::Lowered::kNoParam;  // which argument says how many instances
  uint32_t size_constant = 1;                       // their number, where none does
  uint32_t lanes = 0;                               // of a group, as the kernel was written
  uint32_t per_thread = 1;                          // kernel::instances_per_thread
  bool loops = false;                               // an instance does more than a few steps
  bool walks = false;                               // and has a loop whose length only data knows
  std::vector<kernel::HiddenParam> hidden;          // what lowering appended
};

// All but `hidden`, which only lowering knows.
Signature signature_of(const kernel::Graph& graph, kernel::Id kernel);

// The hidden parameters as bytes, for the cache: what it costs to lower a kernel is saved too.
std::string encode(const std::vector<kernel::HiddenParam>& hidden);
// Takes them off the front of `bytes`; nullopt when they are not there.
std::optional<std::vector<kernel::HiddenParam>> decode_hidden(std::string_view& bytes);

// An argument as the device sees it; hidden ones included.
struct BoundArgument {
  enum class Kind : uint8_t { Value, Memory, Status };
  Kind kind = Kind::Value;
  Scalar value;
  BufferStorage* memory = nullptr;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

struct BoundLaunch {
  uint32_t instances = 0;
  uint64_t elements = 0;  // of all buffers together: a guess at the work of loops
  std::vector<BoundArgument> arguments;
};

// Checks number, kinds, types, places and overlap. `owner` is the device's number.
Result<BoundLaunch> bind(const Signature& signature, std::span<const Argument> arguments,
                         uint64_t owner);

// The bytes of a view, or an error when it leaves its buffer or belongs to another device. `what`
// begins the message.
Result<uint64_t> view_bytes(const View& view, uint64_t owner, std::string_view what);

}  // namespace xlog::device
