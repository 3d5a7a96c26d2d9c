// What is at the other end of standard output and standard error.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace xlog::cli {

enum class ColorChoice : uint8_t { Auto, Always, Never };

// Auto: only on a terminal that can, and not when NO_COLOR is set (no-color.org).
bool use_color(ColorChoice choice, std::FILE* stream);

uint32_t terminal_width(std::FILE* stream);  // 120 when it is not a terminal

// Writes all of it. False on failure, with the reason on standard error unless the reader is gone
// (a closed pipe).
bool write_all(std::FILE* stream, std::string_view text);
bool flush_stdout();

// From here on Ctrl-C sets this flag, for whoever works to see and to clear; while it is set, a
// second one ends the process.
std::atomic<bool>& catch_interrupts();

}  // namespace xlog::cli
