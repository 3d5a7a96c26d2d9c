// How much memory there is and how much this process takes. Numbers come from the system and are 0,
// or UINT64_MAX for what is left, where it does not say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace xlog {

// Memory of the process itself that is in use now: without the files that it maps, such as shared
// libraries.
uint64_t own_memory();
// The most that was in use so far, with those files.
uint64_t peak_memory();
// What the machine, or the control group that the process is in, could still give it.
uint64_t available_memory();

// "512 bytes", "1.5 KiB", "20 MiB".
std::string size_text(uint64_t bytes);
// "4096", "500M", "1.5G": a number and a unit of k, M, G or T, in either case, which are powers
// of 1024, with an optional B or iB. nullopt for any other text, for nothing, and for more than 64
// bits hold.
std::optional<uint64_t> parse_size(std::string_view text);

}  // namespace xlog
