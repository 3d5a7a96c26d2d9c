// xlog fmt [--check] [-w] FILE...
#include <fmt/format.h>

#include "base/check.h"
#include "cli/options.h"
#include "io/file.h"
#include "lang/parser.h"
#include "lang/printer.h"

namespace xlog::cli {
namespace {

struct FmtOptions {
  std::vector<std::string> files;
  bool check = false;
  bool write = false;
  ReportOptions report;
};

constexpr lang::ParseOptions kWithComments = {.bulk_facts = false, .keep_comments = true};

// A formatter that changed a program would be worse than none.
void check_same_program(const lang::Module& before, const std::string& formatted,
                        lang::Session& session) {
  Diagnostics diagnostics;
  const SourceFile* file = session.sources.add("formatted", "", formatted);
  if (file == nullptr) return;
  const lang::Module after = lang::parse(*file, session.names.symbols, diagnostics, kWithComments);
  bool same = !diagnostics.has_errors() && before.statements.size() == after.statements.size() &&
              before.comments.size() == after.comments.size();
  for (size_t i = 0; same && i < before.statements.size(); ++i) {
    same = lang::equal(before.statements[i], after.statements[i]);
  }
  XLOG_CHECK(same, "the formatted text is not the same program");
}

std::optional<std::string> formatted_text(const SourceFile& file, lang::Session& session) {
  const lang::Module module =
      lang::parse(file, session.names.symbols, session.diagnostics, kWithComments);
  if (session.diagnostics.has_errors()) return std::nullopt;
  std::string text = lang::format(module, session.sources, session.names.symbols);
  check_same_program(module, text, session);
  return text;
}

// One file; false when something is wrong with it.
bool format_file(const std::string& path, const FmtOptions& options) {
  lang::Session session;
  const SourceFile* file = lang::read_source(path, session);
  std::optional<std::string> text;
  if (file != nullptr) text = formatted_text(*file, session);
  if (!text) {
    print_diagnostics(session, options.report);
    return false;
  }
  const bool differs = *text != file->text;
  if (options.check) {
    if (differs) fmt::print("{}\n", path);
    return !differs;
  }
  if (!options.write || path == "-") return write_all(stdout, *text);
  if (!differs) return true;
  const std::string reason = io::replace_file(path, *text);
  if (reason.empty()) {
    if (!options.report.quiet) fmt::print("formatted {}\n", path);
    return true;
  }
  session.diagnostics.report(Code::CannotWriteFile, {},
                             fmt::format("cannot write `{}`: {}", path, reason));
  print_diagnostics(session, options.report);
  return false;
}

}  // namespace

void add_fmt(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("fmt", "Lay out programs in the one canonical way");
  auto options = std::make_shared<FmtOptions>();
  command->add_option("FILE", options->files, "Programs; - reads standard input")
      ->required()
      ->type_name("");
  CLI::Option* check = command->add_flag(
      "--check", options->check, "List the files that would change; exit 1 if there are any");
  command->add_flag("-w,--write", options->write, "Change the files instead of printing")
      ->excludes(check);
  add_report_options(*command, options->report);
  command->footer(R"(Files with syntax errors are reported and left alone.

Examples:
  xlog fmt messy.xlog
  xlog fmt -w src/*.xlog
  xlog fmt --check src/*.xlog)");
  command->callback([options, &exit_code] {
    bool ok = true;
    for (const std::string& file : options->files) ok = format_file(file, *options) && ok;
    exit_code = flush_stdout() && ok ? kAnswered : kProgramError;
  });
}

}  // namespace xlog::cli
