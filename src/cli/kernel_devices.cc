// xlog kernel devices: what is here, with versions and memory, and what is not and why.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/kernel.h"
#include "cli/terminal.h"
#include "device/device.h"

namespace xlog::cli {
namespace {

std::string memory_text(uint64_t bytes) {
  return bytes == 0 ? "" : fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30));
}

void print_json(const std::vector<device::DeviceListing>& all) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const device::DeviceListing& entry : all) {
    nlohmann::ordered_json object;
    object["name"] = entry.name;
    object["usable"] = entry.info.has_value();
    if (entry.info) {
      object["hardware"] = entry.info->hardware;
      object["software"] = entry.info->software;
      object["memory"] = entry.info->memory;
      object["compute_units"] = entry.info->compute_units;
    } else {
      object["problem"] = entry.problem;
    }
    list.push_back(std::move(object));
  }
  fmt::print("{}\n", list.dump());
}

void print_table(const std::vector<device::DeviceListing>& all) {
  for (const device::DeviceListing& entry : all) {
    if (!entry.info) {
      fmt::print("{:<10} not usable: {}\n", entry.name, entry.problem);
      continue;
    }
    fmt::print("{:<10} {}\n", entry.name, entry.info->hardware);
    fmt::print("{:<10} {}\n", "", entry.info->software);
    const std::string memory = memory_text(entry.info->memory);
    fmt::print("{:<10} {}{}{} compute units\n", "", memory, memory.empty() ? "" : ", ",
               entry.info->compute_units);
  }
}

}  // namespace

void add_kernel_devices(CLI::App& kernel, int& exit_code) {
  CLI::App* command =
      kernel.add_subcommand("devices", "What can run kernels here, with versions and memory");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "As a JSON array");
  command->footer("Examples:\n  xlog kernel devices\n  xlog kernel devices --json");
  command->callback([json, &exit_code] {
    const std::vector<device::DeviceListing> all = device::list_devices();
    if (*json) {
      print_json(all);
    } else {
      print_table(all);
    }
    exit_code = flush_stdout() ? kAnswered : kProgramError;
  });
}

}  // namespace xlog::cli
