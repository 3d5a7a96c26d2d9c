// xlog kernel ops: the op table, and on request every op tried on devices against the oracle.
#include <fmt/format.h>

#include <map>

#include "cli/kernel.h"
#include "cli/kernel_input.h"
#include "cli/terminal.h"
#include "device/device.h"
#include "device/op_matrix.h"
#include "render/renderer.h"

namespace xlog::cli {
namespace {

using device::OpCell;
using device::OpOutcome;
using kernel::Op;
using kernel::Type;

struct OpsOptions {
  std::vector<std::string> devices;
};

std::string operands_text(const kernel::OpInfo& info) {
  return info.operands == kernel::kMany ? "any" : std::to_string(info.operands);
}

void print_table() {
  constexpr std::string_view kTiers[] = {"kernel", "plan", "relation"};
  fmt::print("| op | tier | operands | meaning |\n|---|---|---|---|\n");
  for (const kernel::OpInfo& info : kernel::kOps) {
    fmt::print("| `{}` | {} | {} | {} |\n", info.text, kTiers[static_cast<int>(info.tier)],
               operands_text(info), info.meaning);
  }
}

void print_capabilities() {
  fmt::print(
      "| target | language | groups side by side | collectives | f64 | fma | 32-bit atomics | "
      "64-bit "
      "atomics | lanes | local bytes |\n|---|---|---|---|---|---|---|---|---|---|\n");
  auto yes = [](bool v) { return v ? "yes" : "by rewriting"; };
  auto has = [](bool v) { return v ? "yes" : "declined"; };
  for (const render::Renderer& r : render::renderers()) {
    const kernel::Target& t = r.target;
    fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", t.name, r.language,
               yes(t.groups), yes(t.collectives), has(t.f64), has(t.fma), has(t.atomic32),
               has(t.atomic64), t.max_group, t.max_local_bytes);
  }
}

// What one op did on one device over all its types: "same", or what was declined or differs.
std::string cell_text(const std::vector<const OpCell*>& cells) {
  std::string declined, different;
  for (const OpCell* cell : cells) {
    std::string& list = cell->outcome == OpOutcome::Declined ? declined : different;
    const std::string name(kernel::spelling(cell->type));
    if (cell->outcome != OpOutcome::Same && list.find(name) == std::string::npos)
      list += " " + name;
  }
  if (!different.empty()) return "DIFFERENT:" + different;
  return declined.empty() ? "same" : "declined:" + declined;
}

int try_ops(const OpsOptions& options) {
  std::vector<std::vector<OpCell>> all;
  for (const std::string& name : options.devices) {
    auto device = device::open_device(name);
    if (!device.ok()) return kernel_error("ops", device.error());
    all.push_back(device::test_ops(**device));
  }
  fmt::print("| op | {} |\n|---|", fmt::join(options.devices, " | "));
  for (size_t d = 0; d < all.size(); ++d) fmt::print("---|");
  fmt::print("\n");
  bool different = false;
  for (int o = 0; o < kernel::kOpCount; ++o) {
    std::vector<std::string> row;
    for (const std::vector<OpCell>& cells : all) {
      std::vector<const OpCell*> mine;
      for (const OpCell& cell : cells) {
        if (cell.op == static_cast<Op>(o)) mine.push_back(&cell);
      }
      if (!mine.empty()) row.push_back(cell_text(mine));
    }
    if (!row.empty()) fmt::print("| `{}` | {} |\n", kernel::kOps[o].text, fmt::join(row, " | "));
  }
  for (size_t d = 0; d < all.size(); ++d) {
    for (const OpCell& cell : all[d]) {
      if (cell.outcome != OpOutcome::Different) continue;
      different = true;
      fmt::print(stderr, "xlog kernel ops: {} on {}: {}\n", kernel::spelling(cell.op),
                 options.devices[d], cell.detail);
    }
  }
  return different ? kProgramError : kAnswered;
}

}  // namespace

void add_kernel_ops(CLI::App& kernel, int& exit_code) {
  CLI::App* command = kernel.add_subcommand(
      "ops", "The ops and targets; with --device, every op tried against the oracle");
  auto options = std::make_shared<OpsOptions>();
  command->add_option("-d,--device", options->devices, "Try every op on these devices")
      ->type_name("DEVICE")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->footer(
      "Examples:\n  xlog kernel ops\n  xlog kernel ops --device interp,native,c,opencl,cuda");
  command->callback([options, &exit_code] {
    if (options->devices.empty()) {
      print_table();
      fmt::print("\n");
      print_capabilities();
      exit_code = kAnswered;
    } else {
      exit_code = try_ops(*options);
    }
    if (!flush_stdout()) exit_code = kProgramError;
  });
}

}  // namespace xlog::cli
