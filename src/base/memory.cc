#include "base/memory.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>

namespace xlog {

namespace {

constexpr std::string_view kUnits = "KMGT";

// The start of a small file; "" where it cannot be read.
std::string head_of(const char* path) {
  std::string text(8192, '\0');
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return "";
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

std::optional<uint64_t> number_at(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

// The number after `key` at the beginning of a line.
std::optional<uint64_t> number_after(const std::string& text, const std::string& key) {
  const size_t at = ("\n" + text).find("\n" + key);
  if (at == std::string::npos) return std::nullopt;
  return number_at(std::string_view(text).substr(at + key.size()));
}

// Of the machine, in bytes.
uint64_t available_on_machine() {
  const std::string text = head_of("/proc/meminfo");
  const auto available = number_after(text, "MemAvailable:");
  if (!available) return UINT64_MAX;
  return (*available + number_after(text, "SwapFree:").value_or(0)) * 1024;
}

// Of a container. Pages of files that nobody has used lately are given back on demand.
uint64_t available_in_group() {
  const auto most = number_at(head_of("/sys/fs/cgroup/memory.max"));
  const auto used = number_at(head_of("/sys/fs/cgroup/memory.current"));
  if (!most || !used) return UINT64_MAX;
  const std::string parts = head_of("/sys/fs/cgroup/memory.stat");
  const uint64_t idle = number_after(parts, "inactive_file ").value_or(0);
  const uint64_t needed = *used - std::min(*used, idle);
  return *most - std::min(*most, needed);
}

}  // namespace

uint64_t own_memory() {
  const std::string text = head_of("/proc/self/statm");
  uint64_t size = 0, resident = 0, shared = 0;
  if (std::sscanf(text.c_str(), "%lu %lu %lu", &size, &resident, &shared) != 3) return 0;
  return (resident - std::min(resident, shared)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

uint64_t peak_memory() {
  rusage usage = {};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

uint64_t available_memory() { return std::min(available_on_machine(), available_in_group()); }

std::string size_text(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
  double number = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; number >= 1024 && unit + 1 < kUnits.size(); ++unit) number /= 1024;
  std::string digits = fmt::format("{:.1f}", number);
  if (digits.ends_with(".0")) digits.resize(digits.size() - 2);
  return fmt::format("{} {}iB", digits, kUnits[unit]);
}

std::optional<uint64_t> parse_size(std::string_view text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + digits, number);
  if (error != std::errc() || rest != text.data() + digits || digits == 0) return std::nullopt;
  std::string_view unit = text.substr(digits);
  const bool whole = text.substr(0, digits).find('.') == std::string_view::npos;
  if (unit.empty()) {
    uint64_t bytes = 0;
    const auto [end, failed] = std::from_chars(text.data(), rest, bytes);
    return whole && failed == std::errc() && end == rest ? std::optional(bytes) : std::nullopt;
  }
  const size_t power =
      kUnits.find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0]))));
  unit.remove_prefix(1);
  if (power == std::string_view::npos) return std::nullopt;
  if (!unit.empty() && unit != "B" && unit != "iB") return std::nullopt;
  for (size_t i = 0; i <= power; ++i) number *= 1024;
  if (number >= 18446744073709551616.0) return std::nullopt;
  return static_cast<uint64_t>(number);
}

}  // namespace xlog
