#include "lang/types.h"

#include <utility>

#include "base/check.h"

namespace xlog::lang {

namespace {

struct TypeInfo {
  std::string_view spelling;
  size_t width;
  TypeClass klass;
};

constexpr TypeInfo kTypes[] = {
#define X(name, spelling, width, klass) {spelling, width, TypeClass::klass},
    XLOG_TYPES(X)
#undef X
};

const TypeInfo& info(TypeKind kind) { return kTypes[static_cast<size_t>(kind)]; }

}  // namespace

Type Type::list_of(Type element_type) {
  return Type{TypeKind::List, std::make_shared<const Type>(std::move(element_type))};
}

std::string_view spelling(TypeKind kind) { return info(kind).spelling; }

std::string to_string(const Type& type) {
  std::string text;
  size_t open = 0;
  const Type* inner = &type;
  while (inner->kind == TypeKind::List) {
    XLOG_CHECK(inner->element != nullptr, "a list type without its element type");
    text += "list<";
    ++open;
    inner = inner->element.get();
  }
  text += spelling(inner->kind);
  text.append(open, '>');
  return text;
}

std::optional<TypeKind> find_type(std::string_view text) {
  for (size_t i = 0; i < std::size(kTypes); ++i) {
    if (kTypes[i].spelling == text) return static_cast<TypeKind>(i);
  }
  return std::nullopt;
}

size_t width(TypeKind kind) { return info(kind).width; }

TypeClass type_class(TypeKind kind) { return info(kind).klass; }

}  // namespace xlog::lang
