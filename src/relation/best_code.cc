#include "relation/best_code.h"

namespace xlog::relation {

using kernel::Type;

namespace {

Value all_ones(Builder& k, Type type) { return k.constant(kernel::Scalar::of(type, -1)); }

Value sign_bit(Builder& k, Type type) { return k.number(type, 1) << (bits_of(type) - 1); }

}  // namespace

Type image_type(Type type) { return size_of(type) == 8 ? Type::U64 : Type::U32; }

Value image_of(Builder& k, Value value, bool least) {
  Value image = word_of(k, value);
  const Type type = image.type();
  const Value sign = sign_bit(k, type);
  if (is_float(value.type())) {
    // Negative floats grow as their bits fall.
    image = image ^ k.select((image & sign) != 0, all_ones(k, type), sign);
  } else if (value.type() == Type::I32 || value.type() == Type::I64) {
    image = image ^ sign;
  }
  return least ? image : image ^ all_ones(k, type);
}

Value value_of_image(Builder& k, Value image, Type type, bool least) {
  const Type word = image.type();
  const Value sign = sign_bit(k, word);
  if (!least) image = image ^ all_ones(k, word);
  if (is_float(type)) {
    const Value bits = image ^ k.select((image & sign) != 0, sign, all_ones(k, word));
    return k.bitcast(type, bits);
  }
  if (type == word) return image;
  return k.cast(type, image ^ sign);
}

Value improve(Builder& k, kernel::Buffer values, Value cell, Value is_new, Value image) {
  const Value zero = k.u32(0);
  const kernel::Buffer better = k.private_array(Type::Bool, 1);
  // The worst image is what a new cell holds, so nothing shows that somebody brought it.
  k.store(better, zero, is_new & (image == all_ones(k, image.type())));
  // Most candidates of a fixpoint are no better: the value is read before it is changed.
  k.if_then(image < values[cell], [&] {
    const Value old = k.atomic(kernel::Fold::Min, values, cell, image);
    k.store(better, zero, image < old);
  });
  return better[zero];
}

}  // namespace xlog::relation
