// The text of one field of a data file -> a value of a column's type.
#pragma once

#include <string_view>

#include "lang/value.h"

namespace xlog::io {

// False when the text cannot be read as the type. Spaces around numbers do not count. Lists and
// compound terms cannot be read.
bool parse_field(std::string_view text, const lang::Type& type, lang::Names& names,
                 lang::Value& out);

bool is_number(std::string_view text);
// Sign and magnitude; false when it is not an integer or does not fit 64 bits.
bool parse_magnitude(std::string_view text, bool& negative, uint64_t& magnitude);
// A digit, sign or point comes first: meant as a number, whether or not it is one.
bool starts_like_number(std::string_view text);
bool is_utf8(std::string_view text);

}  // namespace xlog::io
