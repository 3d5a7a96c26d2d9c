#include "device/signature.h"

#include <fmt/format.h>

#include <cstring>

namespace xlog::device {

namespace {

using kernel::Graph;
using kernel::HiddenParam;
using kernel::Id;
using kernel::Mode;
using kernel::Op;
using kernel::size_of;
using kernel::spelling;

bool is_writable(Mode mode) { return mode != Mode::Val && mode != Mode::In; }

// Whether a loop ends within a number of steps that is known and small: a binary search, say.
bool is_short(const Graph& graph, Id loop) {
  constexpr uint32_t kFewSteps = 64;
  Id bound = graph.operand(loop, graph.op(loop) == Op::For ? 1 : 0);
  return graph.is_const(bound) && graph.value(bound).as_u32() <= kFewSteps;
}

std::string place(const Signature& signature, size_t k) {
  return fmt::format("kernel {}, parameter {} ({} {})", signature.kernel, signature.params[k].name,
                     spelling(signature.params[k].mode), spelling(signature.params[k].type));
}

Status bind_buffer(const Signature& signature, size_t k, const View& view, uint64_t owner,
                   BoundArgument& bound) {
  Result<uint64_t> bytes = view_bytes(view, owner, place(signature, k));
  if (!bytes.ok()) return bytes.error();
  uint32_t size = size_of(signature.params[k].type);
  if (view.offset % size != 0) {
    return Error{fmt::format("{}: the offset {} is not a multiple of {} bytes", place(signature, k),
                             view.offset, size),
                 ""};
  }
  if (*bytes % size != 0) {
    return Error{fmt::format("{}: {} bytes are no whole number of elements of {} bytes",
                             place(signature, k), *bytes, size),
                 ""};
  }
  if (*bytes / size > UINT32_MAX) {
    return Error{fmt::format("{}: {} elements are more than a kernel can index (4294967295)",
                             place(signature, k), *bytes / size),
                 "split the buffer into views of fewer elements"};
  }
  bound = {BoundArgument::Kind::Memory, {}, view.buffer.get(), view.offset, *bytes};
  return Done{};
}

bool overlap(const BoundArgument& a, const BoundArgument& b) {
  if (a.kind != BoundArgument::Kind::Memory || b.kind != BoundArgument::Kind::Memory) return false;
  return a.memory == b.memory && a.bytes != 0 && b.bytes != 0 && a.offset < b.offset + b.bytes &&
         b.offset < a.offset + a.bytes;
}

Status check_overlap(const Signature& signature, std::span<const BoundArgument> arguments) {
  for (size_t a = 0; a < arguments.size(); ++a) {
    if (!is_writable(signature.params[a].mode)) continue;
    for (size_t b = 0; b < arguments.size(); ++b) {
      if (a == b || !overlap(arguments[a], arguments[b])) continue;
      return Error{
          fmt::format("{}: its bytes overlap those of parameter {} ({})", place(signature, a),
                      signature.params[b].name, spelling(signature.params[b].mode)),
          "give the kernel a copy, or views that do not meet"};
    }
  }
  return Done{};
}

}  // namespace

Signature signature_of(const Graph& graph, Id kernel) {
  Signature signature;
  const kernel::KernelInfo& info = graph.kernel_info(kernel);
  signature.kernel = info.name;
  signature.lanes = info.group;
  signature.per_thread = kernel::instances_per_thread(graph, kernel);
  for (Id param : graph.params(kernel)) {
    std::string name(graph.param_name(kernel, param));
    if (name.empty()) name = fmt::format("#{}", signature.params.size());
    signature.params.push_back({std::move(name), graph.type(param), graph.mode(param)});
  }
  for (Id node : kernel::reachable(graph, kernel)) {
    Op op = graph.op(node);
    if (is_loop(op)) {
      signature.loops = true;
      if (!is_short(graph, node)) signature.walks = true;
    }
    if (op != Op::Grid && op != Op::Group) continue;
    Id size = graph.operand(node, 0);
    if (graph.is_const(size)) {
      signature.size_constant = graph.value(size).as_u32();
    } else {
      signature.size_param = graph.position(size);
    }
  }
  return signature;
}

std::string encode(const std::vector<HiddenParam>& hidden) {
  std::string bytes;
  auto put = [&](uint32_t v) { bytes.append(reinterpret_cast<const char*>(&v), sizeof(v)); };
  put(static_cast<uint32_t>(hidden.size()));
  for (const HiddenParam& param : hidden) {
    put(static_cast<uint32_t>(param.kind));
    put(param.of);
  }
  return bytes;
}

std::optional<std::vector<HiddenParam>> decode_hidden(std::string_view& bytes) {
  auto take = [&]() -> std::optional<uint32_t> {
    uint32_t v = 0;
    if (bytes.size() < sizeof(v)) return std::nullopt;
    std::memcpy(&v, bytes.data(), sizeof(v));
    bytes.remove_prefix(sizeof(v));
    return v;
  };
  std::vector<HiddenParam> hidden;
  std::optional<uint32_t> count = take();
  if (!count) return std::nullopt;
  for (uint32_t k = 0; k < *count; ++k) {
    std::optional<uint32_t> kind = take(), of = take();
    if (!kind || !of || *kind > static_cast<uint32_t>(HiddenParam::Kind::Status)) {
      return std::nullopt;
    }
    hidden.push_back({static_cast<HiddenParam::Kind>(*kind), *of});
  }
  return hidden;
}

Result<uint64_t> view_bytes(const View& view, uint64_t owner, std::string_view what) {
  if (view.buffer == nullptr) return Error{fmt::format("{}: there is no buffer", what), ""};
  if (view.buffer->owner != owner) {
    return Error{fmt::format("{}: the buffer belongs to another device", what),
                 "read it there and write it here"};
  }
  uint64_t size = view.buffer->bytes;
  uint64_t bytes = view.bytes;
  if (view.offset <= size && bytes == UINT64_MAX) bytes = size - view.offset;
  if (view.offset > size || bytes > size - view.offset) {
    return Error{
        fmt::format("{}: bytes {} to {} leave the buffer of {} bytes", what, view.offset,
                    bytes == UINT64_MAX ? "the end" : fmt::format("{}", view.offset + bytes), size),
        ""};
  }
  return bytes;
}

Result<BoundLaunch> bind(const Signature& signature, std::span<const Argument> arguments,
                         uint64_t owner) {
  if (arguments.size() != signature.params.size()) {
    return Error{fmt::format("kernel {} takes {} arguments, {} are given", signature.kernel,
                             signature.params.size(), arguments.size()),
                 ""};
  }
  BoundLaunch launch;
  launch.arguments.resize(arguments.size());
  for (size_t k = 0; k < arguments.size(); ++k) {
    const Parameter& param = signature.params[k];
    const Scalar* scalar = std::get_if<Scalar>(&arguments[k]);
    if ((param.mode == Mode::Val) != (scalar != nullptr)) {
      return Error{fmt::format("{}: a {} is given", place(signature, k),
                               scalar != nullptr ? "scalar" : "buffer"),
                   ""};
    }
    if (scalar != nullptr) {
      if (scalar->type != param.type) {
        return Error{fmt::format("{}: a {} is given", place(signature, k), spelling(scalar->type)),
                     ""};
      }
      launch.arguments[k].value = *scalar;
      continue;
    }
    Status bound =
        bind_buffer(signature, k, std::get<View>(arguments[k]), owner, launch.arguments[k]);
    if (!bound.ok()) return bound.error();
    launch.elements += launch.arguments[k].bytes / size_of(param.type);
  }
  Status apart = check_overlap(signature, launch.arguments);
  if (!apart.ok()) return apart.error();

  launch.instances = signature.size_param == kernel::Lowered::kNoParam
                         ? signature.size_constant
                         : launch.arguments[signature.size_param].value.as_u32();
  // Lanes are numbered through all groups, and UINT32_MAX stands for none where checks report.
  if (uint64_t{launch.instances} * signature.lanes > UINT32_MAX) {
    return Error{
        fmt::format("kernel {}: {} groups of {} lanes are more lanes than a launch can number "
                    "(4294967295)",
                    signature.kernel, launch.instances, signature.lanes),
        "launch it in parts"};
  }
  for (const HiddenParam& hidden : signature.hidden) {
    BoundArgument argument;
    if (hidden.kind == HiddenParam::Kind::Status) {
      argument.kind = BoundArgument::Kind::Status;
    } else {
      const BoundArgument& of = launch.arguments[hidden.of];
      uint64_t elements = of.bytes / size_of(signature.params[hidden.of].type);
      argument.value = Scalar::u32(static_cast<uint32_t>(elements));
    }
    launch.arguments.push_back(argument);
  }
  return launch;
}

}  // namespace xlog::device
