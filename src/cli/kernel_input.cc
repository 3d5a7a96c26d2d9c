#include "cli/kernel_input.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <optional>
#include <set>

#include "base/diagnostic.h"
#include "cli/cli.h"
#include "kernel/text.h"

namespace xlog::cli {
namespace {

using kernel::Graph;
using kernel::Id;
using kernel::Mode;
using kernel::Scalar;
using kernel::Type;

constexpr uint64_t kMostElements = uint64_t{1} << 32;

Result<std::string> read_text(const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::error_code unknown;
  const auto kind = std::filesystem::status(path, unknown).type();
  if (kind == std::filesystem::file_type::directory) {
    return Error{fmt::format("`{}` is a folder", path), "name a file in it"};
  }
  if (kind == std::filesystem::file_type::character || kind == std::filesystem::file_type::block) {
    return Error{fmt::format("`{}` is a device, not a file", path), "use - for standard input"};
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{fmt::format("cannot read `{}`", path), ""};
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (file.bad()) return Error{fmt::format("cannot read `{}`", path), ""};
  return text;
}

// splitmix64: the same numbers for a seed everywhere.
uint64_t next_random(uint64_t& state) {
  uint64_t z = (state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

template <typename T>
std::optional<T> number(std::string_view text) {
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Scalar> read_scalar(Type type, std::string_view text) {
  if (type == Type::Bool) {
    if (text == "true" || text == "1") return Scalar::boolean(true);
    if (text == "false" || text == "0") return Scalar::boolean(false);
    return std::nullopt;
  }
  if (type == Type::F32) {
    auto v = number<float>(text);
    return v ? std::optional(kernel::canonical(Scalar::f32(*v))) : std::nullopt;
  }
  if (type == Type::F64) {
    auto v = number<double>(text);
    return v ? std::optional(kernel::canonical(Scalar::f64(*v))) : std::nullopt;
  }
  if (kernel::is_signed(type)) {
    auto v = number<int64_t>(text);
    if (!v || (type == Type::I32 && (*v < INT32_MIN || *v > INT32_MAX))) return std::nullopt;
    return Scalar::of(type, *v);
  }
  auto v = number<uint64_t>(text);
  if (!v || *v > kernel::mask_of(type)) return std::nullopt;
  return Scalar{type, *v};
}

Scalar random_scalar(Type type, uint64_t below, uint64_t& state) {
  const uint64_t bits = next_random(state);
  if (kernel::is_float(type)) {
    const double unit = static_cast<double>(bits >> 11) * 0x1p-53;
    const double v = below == 0 ? unit : unit * static_cast<double>(below);
    return type == Type::F32 ? Scalar::f32(static_cast<float>(v)) : Scalar::f64(v);
  }
  return {type, (below == 0 ? bits : bits % below) & kernel::mask_of(type)};
}

// Fills a buffer from "iota:N", "zero:N", "random:N[:below]", "@file" or a list.
Result<std::vector<std::byte>> read_buffer(const std::string& name, Type type,
                                           const std::string& text, uint64_t& state) {
  const uint32_t size = kernel::size_of(type);
  std::vector<std::byte> bytes;
  auto bad = [&](const std::string& what) {
    return Error{fmt::format("argument `{}`: {}", name, what),
                 fmt::format("write {0}=1,2,3 or {0}=iota:N, {0}=zero:N, {0}=random:N, "
                             "{0}=random:N:BELOW, {0}=@FILE",
                             name)};
  };
  if (text.starts_with('@')) {
    Result<std::string> content = read_text(text.substr(1));
    if (!content.ok()) return content.error();
    if (content->size() % size != 0) {
      return bad(fmt::format("{} bytes are not a whole number of {}", content->size(),
                             kernel::spelling(type)));
    }
    bytes.resize(content->size());
    std::copy_n(reinterpret_cast<const std::byte*>(content->data()), content->size(), bytes.data());
    return bytes;
  }
  const size_t colon = text.find(':');
  if (colon == std::string::npos) {
    size_t begin = 0;
    while (begin < text.size()) {
      const size_t end = std::min(text.find(',', begin), text.size());
      const std::string_view word = std::string_view(text).substr(begin, end - begin);
      const std::optional<Scalar> value = read_scalar(type, word);
      if (!value) return bad(fmt::format("`{}` is no {}", word, kernel::spelling(type)));
      bytes.resize(bytes.size() + size);
      kernel::store_scalar(*value, bytes.data() + bytes.size() - size);
      begin = end + 1;
    }
    return bytes;
  }
  const std::string kind = text.substr(0, colon);
  const size_t second = text.find(':', colon + 1);
  const auto count = number<uint64_t>(
      std::string_view(text).substr(colon + 1, std::min(second, text.size()) - colon - 1));
  if (!count || *count >= kMostElements) return bad("the number of elements is not below 2^32");
  uint64_t below = 0;
  if (second != std::string::npos) {
    const auto limit = number<uint64_t>(std::string_view(text).substr(second + 1));
    if (!limit || kind != "random") return bad(fmt::format("`{}` is not understood", text));
    below = *limit;
  }
  if (kind != "zero" && kind != "iota" && kind != "random") {
    return bad(fmt::format("`{}` is no way to fill a buffer", kind));
  }
  bytes.resize(*count * size);
  for (uint64_t i = 0; i < *count && kind != "zero"; ++i) {
    const Scalar value = kind == "iota" ? Scalar::of(type, static_cast<int64_t>(i))
                                        : random_scalar(type, below, state);
    kernel::store_scalar(value, bytes.data() + i * size);
  }
  return bytes;
}

}  // namespace

Result<KernelFile> read_kernel(const std::string& path, const std::string& name) {
  Result<std::string> text = read_text(path);
  if (!text.ok()) return text.error();
  KernelFile file;
  Result<std::vector<Id>> all =
      kernel::parse(file.graph, *text, path == "-" ? "standard input" : path);
  if (!all.ok()) return all.error();
  if (all->empty()) return Error{fmt::format("`{}` holds no kernel", path), ""};
  std::vector<std::string> names;
  for (Id id : *all) names.push_back(file.graph.kernel_info(id).name);
  if (name.empty()) {
    if (all->size() > 1) {
      return Error{fmt::format("`{}` holds {} kernels: say which one", path, all->size()),
                   fmt::format("one of: {}", fmt::join(names, ", "))};
    }
    file.kernel = all->front();
    return file;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) {
      file.kernel = (*all)[i];
      return file;
    }
  }
  const auto near = did_you_mean(name, {names.begin(), names.end()});
  return Error{fmt::format("`{}` holds no kernel `{}`", path, name),
               near ? fmt::format("did you mean `{}`?", *near)
                    : fmt::format("it holds: {}", fmt::join(names, ", "))};
}

Result<std::vector<HostArgument>> read_arguments(const Graph& graph, Id kernel,
                                                 const std::vector<std::string>& words,
                                                 uint64_t seed) {
  std::vector<HostArgument> arguments;
  std::vector<std::string> names;
  for (Id param : graph.params(kernel)) names.emplace_back(graph.param_name(kernel, param));
  std::set<std::string> given_names;
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    if (word.find('=') == std::string::npos) {
      return Error{fmt::format("`{}` is no argument", word), "write NAME=VALUE"};
    }
    if (std::ranges::find(names, name) == names.end()) {
      return Error{fmt::format("the kernel has no parameter `{}`", name),
                   fmt::format("it has: {}", fmt::join(names, ", "))};
    }
    if (!given_names.insert(name).second) {
      return Error{fmt::format("parameter `{}` is given twice", name), ""};
    }
  }
  uint64_t state = seed;
  for (Id param : graph.params(kernel)) {
    HostArgument argument;
    argument.name = graph.param_name(kernel, param);
    argument.type = graph.type(param);
    argument.mode = graph.mode(param);
    const std::string* given = nullptr;
    for (const std::string& word : words) {
      if (word.starts_with(argument.name + "=")) given = &word;
    }
    if (given == nullptr) {
      return Error{fmt::format("parameter `{}` ({} {}) has no value", argument.name,
                               kernel::spelling(argument.mode), kernel::spelling(argument.type)),
                   argument.mode == Mode::Val
                       ? fmt::format("give one with --arg {}=1", argument.name)
                       : fmt::format("give one with --arg {}=zero:8", argument.name)};
    }
    const std::string text = given->substr(argument.name.size() + 1);
    if (argument.mode == Mode::Val) {
      const std::optional<Scalar> value = read_scalar(argument.type, text);
      if (!value) {
        return Error{fmt::format("argument `{}`: `{}` is no {}", argument.name, text,
                                 kernel::spelling(argument.type)),
                     ""};
      }
      argument.scalar = *value;
    } else {
      Result<std::vector<std::byte>> bytes = read_buffer(argument.name, argument.type, text, state);
      if (!bytes.ok()) return bytes.error();
      argument.bytes = std::move(*bytes);
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

std::string elements_text(const HostArgument& argument, uint64_t limit) {
  std::string text;
  const uint64_t count = argument.elements();
  for (uint64_t i = 0; i < std::min(count, limit); ++i) {
    const Scalar value = kernel::load_scalar(
        argument.type, argument.bytes.data() + i * kernel::size_of(argument.type));
    std::string word = kernel::to_text(value);
    word.resize(std::min(word.size(), word.find(':')));
    text += (i == 0 ? "" : " ") + word;
  }
  if (count > limit) text += fmt::format(" ... ({} more)", count - limit);
  return text;
}

Result<std::vector<device::Argument>> upload(device::Device& device,
                                             const std::vector<HostArgument>& arguments) {
  std::vector<device::Argument> uploaded;
  for (const HostArgument& argument : arguments) {
    if (argument.mode == Mode::Val) {
      uploaded.emplace_back(argument.scalar);
      continue;
    }
    Result<device::Buffer> buffer = device.allocate(argument.bytes.size());
    if (!buffer.ok()) return buffer.error();
    Status written = device.write({*buffer}, argument.bytes);
    if (!written.ok()) return written.error();
    uploaded.emplace_back(device::View{*buffer});
  }
  return uploaded;
}

int kernel_error(const std::string& command, const Error& error) {
  fmt::print(stderr, "xlog kernel {}: {}\n", command, error.text());
  return kProgramError;
}

}  // namespace xlog::cli
