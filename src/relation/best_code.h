// Best values as kernels keep them: an unsigned integer for each value, its *image*, so that a
// smaller image is a better value. One atomic minimum then serves all types, least and greatest.
#pragma once

#include "relation/row_code.h"

namespace xlog::relation {

// Worse than all, or as bad as the worst value: what is there before any.
constexpr uint8_t kNoImage = 0xff;  // in all bytes

kernel::Type image_type(kernel::Type type);
// Floats are ordered as comparisons in the language order them: -0.0 below 0.0, NaN above all.
Value image_of(Builder& k, Value value, bool least);
Value value_of_image(Builder& k, Value image, kernel::Type type, bool least);

// Offers an image to a cell of a `race` buffer; gives whether that made the cell's value better. Of
// several instances that offer the same one, one made it better. `is_new`: this instance has made
// the cell.
Value improve(Builder& k, kernel::Buffer values, Value cell, Value is_new, Value image);

}  // namespace xlog::relation
