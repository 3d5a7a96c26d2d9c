#include "lang/load.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "lang/goal.h"

namespace xlog::lang {

namespace {

constexpr size_t kMaxSourceBytes = size_t{UINT32_MAX} - 1;

void report_unreadable(const std::string& path, std::string_view reason, Session& session) {
  session.diagnostics
      .report(Code::CannotReadFile, {}, fmt::format("cannot read `{}`: {}", path, reason))
      .help("check the path and that you may read the file");
}

const SourceFile* report_too_large(const std::string& path, Session& session) {
  session.diagnostics.report(
      Code::SourceTooLarge, {},
      fmt::format("`{}` does not fit: source texts hold 4 GiB in all", path));
  return nullptr;
}

// Reads to the end. Returns 0, or the system's error number; a text past the limit is cut right
// behind it.
int read_all(std::FILE* file, std::string& text) {
  std::string block(size_t{1} << 16, '\0');
  while (text.size() <= kMaxSourceBytes) {
    errno = 0;
    const size_t got = std::fread(block.data(), 1, block.size(), file);
    text.append(block, 0, got);
    if (got < block.size()) return std::ferror(file) != 0 ? (errno != 0 ? errno : EIO) : 0;
  }
  return 0;
}

const SourceFile* read_stdin(Session& session) {
  std::string text;
  if (const int error = read_all(stdin, text); error != 0) {
    report_unreadable("-", std::strerror(error), session);
    return nullptr;
  }
  const SourceFile* file = session.sources.add("<stdin>", "", std::move(text));
  return file != nullptr ? file : report_too_large("-", session);
}

}  // namespace

const SourceFile* read_source(const std::string& path, Session& session) {
  namespace fs = std::filesystem;
  if (path == "-") return read_stdin(session);

  std::error_code error;
  const fs::path canonical = fs::canonical(path, error);
  if (error) {
    report_unreadable(path, error.message(), session);
    return nullptr;
  }
  if (fs::is_directory(canonical, error)) {
    report_unreadable(path, std::strerror(EISDIR), session);
    return nullptr;
  }
  std::FILE* input = std::fopen(canonical.c_str(), "rb");
  if (input == nullptr) {
    report_unreadable(path, std::strerror(errno), session);
    return nullptr;
  }
  std::string text;
  const auto bytes = fs::file_size(canonical, error);
  if (!error && bytes <= kMaxSourceBytes) text.reserve(bytes);
  const int failed = read_all(input, text);
  std::fclose(input);
  if (failed != 0) {
    report_unreadable(path, std::strerror(failed), session);
    return nullptr;
  }
  const SourceFile* file = session.sources.add(path, canonical.string(), std::move(text));
  return file != nullptr ? file : report_too_large(path, session);
}

std::optional<Program> load(const SourceFile& file, Session& session, const LoadOptions& options) {
  Module main = parse(file, session.names.symbols, session.diagnostics);
  if (session.diagnostics.has_errors()) return std::nullopt;

  if (!options.goal.empty() && !add_goal(options.goal, main, session)) return std::nullopt;

  LinkedModules modules;
  if (!link(std::move(main), session, options, modules)) return std::nullopt;

  std::optional<Program> program = lower(std::move(modules), session, options);
  if (!program || session.diagnostics.has_errors()) return program;
  if (!options.goal.empty() && !take_goal(*program, session)) return program;
  infer_types(*program, session);
  if (program->goal && !session.diagnostics.has_errors()) type_goal(*program, session);
  return program;
}

}  // namespace xlog::lang
