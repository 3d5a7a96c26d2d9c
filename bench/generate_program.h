// An object-oriented program to analyse: a class hierarchy with interfaces and overridden methods,
// and bodies of typed statements. Two things make it like real ones: calls go to few methods often
// and to many seldom, and a few container classes, which hold any object, are used everywhere, so
// that what goes into one comes out of all of its kind and is cast to what it was.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "generate.h"

namespace xlog::bench {

struct ProgramShape {
  uint32_t classes = 0;
  uint32_t containers = 0;   // of the classes
  double container_use = 0;  // how often a method puts something into one and takes it out
  uint32_t methods = 5;      // that a class declares, on average
  uint32_t locals = 8;       // of a method
};

class ProgramMaker {
 public:
  ProgramMaker(const ProgramShape& shape, uint64_t seed) : shape_(shape), random_(seed) {}

  Tables make() {
    make_types();
    make_signatures();
    make_methods();
    for (uint32_t m = 0; m < methods_.size(); ++m) make_body(m);
    make_entries();
    return take_tables();
  }

 private:
  struct Class {
    std::vector<uint32_t> supers;      // all of them, itself too, sorted
    std::vector<uint32_t> signatures;  // that a variable of this type can be called with
    std::vector<uint32_t> below;       // classes that may be allocated for it
    std::vector<uint32_t> fields;      // of it and its superclasses
    uint32_t superclass = 0;
  };
  struct Signature {
    std::vector<uint32_t> parameters;  // types
    uint32_t result = 0;               // type
  };
  struct Method {
    uint32_t owner = 0;
    Signature signature;
    bool is_static = false;
    std::vector<uint32_t> formals;
  };
  struct Variable {
    uint32_t type = 0;
    uint32_t id = 0;
  };

  static constexpr uint32_t kObject = 0;  // the class above all

  // Classes come first, then interfaces, then one array type for each class.
  uint32_t interfaces() const { return shape_.classes / 10 + 1; }
  uint32_t types() const { return shape_.classes + interfaces(); }
  uint32_t array_of(uint32_t type) const { return types() + type; }
  bool is_class(uint32_t type) const { return type < shape_.classes; }
  // Containers come right after the class above all.
  bool is_container(uint32_t type) const { return type > 0 && type <= shape_.containers; }

  bool is_subtype(uint32_t type, uint32_t super) const {
    const std::vector<uint32_t>& all = classes_[type].supers;
    return std::binary_search(all.begin(), all.end(), super);
  }

  // ---- types ----

  void make_types() {
    classes_.resize(types());
    for (uint32_t i = shape_.classes; i < types(); ++i) classes_[i].supers = {i};
    for (uint32_t c = 0; c < shape_.classes; ++c) {
      Class& made = classes_[c];
      made.supers = {c};
      if (c == kObject) continue;
      made.superclass = is_container(c) || random_.chance(0.3) ? kObject : random_.skewed(c, 2);
      if (is_container(made.superclass)) made.superclass = kObject;
      superclass_.push_back({c, made.superclass});
      inherit(made, made.superclass);
      for (uint32_t n = random_.times(0.4); n > 0; --n) {
        const uint32_t interface = shape_.classes + random_.skewed(interfaces(), 2);
        superinterface_.push_back({c, interface});
        inherit(made, interface);
      }
      std::sort(made.supers.begin(), made.supers.end());
      made.supers.erase(std::unique(made.supers.begin(), made.supers.end()), made.supers.end());
    }
    for (uint32_t c = 0; c < shape_.classes; ++c) {
      for (uint32_t super : classes_[c].supers) classes_[super].below.push_back(c);
      component_type_.push_back({array_of(c), c});
      superclass_.push_back({array_of(c), kObject});
    }
    // Fields of a class and of those above it; a container has one, of any object.
    for (uint32_t c = 0; c < shape_.classes; ++c) {
      if (c != kObject) classes_[c].fields = classes_[classes_[c].superclass].fields;
      const uint32_t own = is_container(c) ? 1 : c == kObject ? 0 : random_.below(4);
      for (uint32_t n = 0; n < own; ++n) {
        classes_[c].fields.push_back(static_cast<uint32_t>(field_types_.size()));
        field_types_.push_back(is_container(c) ? kObject : some_type());
      }
    }
    for (uint32_t n = 0; n < shape_.classes; ++n) static_field_types_.push_back(some_type());
  }

  void inherit(Class& made, uint32_t from) {
    const std::vector<uint32_t>& above = classes_[from].supers;
    made.supers.insert(made.supers.end(), above.begin(), above.end());
  }

  // The type of a variable: containers and a few classes often, now and then an interface.
  uint32_t some_type() {
    if (random_.chance(0.1)) return shape_.classes + random_.skewed(interfaces(), 1.5);
    return 1 + random_.skewed(shape_.classes - 1, 1.3);
  }
  uint32_t some_container() { return 1 + random_.skewed(shape_.containers, 2); }

  // ---- signatures and methods ----

  void make_signatures() {
    for (uint32_t t = 0; t < types(); ++t) {
      if (is_class(t) && t != kObject) {
        classes_[t].signatures = classes_[classes_[t].superclass].signatures;
      }
      const uint32_t own = is_class(t) ? random_.below(shape_.methods) : 1 + random_.below(3);
      for (uint32_t n = 0; n < own; ++n) {
        Signature made;
        for (uint32_t p = random_.below(4); p > 0; --p) made.parameters.push_back(some_type());
        made.result = some_type();
        classes_[t].signatures.push_back(static_cast<uint32_t>(signatures_.size()));
        signatures_.push_back(std::move(made));
      }
    }
  }

  uint32_t add_method(uint32_t owner, Signature signature, bool is_static) {
    const auto m = static_cast<uint32_t>(methods_.size());
    methods_.push_back({owner, std::move(signature), is_static, {}});
    method_class_.push_back({m, owner});
    return m;
  }

  void declare(uint32_t owner, uint32_t signature) {
    add_row(declares_, {owner, signature, add_method(owner, signatures_[signature], false)});
  }

  void make_methods() {
    constexpr double kOverridden = 0.15;
    for (uint32_t c = 0; c < shape_.classes; ++c) {
      const std::vector<uint32_t>& known = classes_[c].signatures;
      const size_t inherited =
          c == kObject ? 0 : classes_[classes_[c].superclass].signatures.size();
      for (size_t i = 0; i < known.size(); ++i) {
        if (i >= inherited || random_.chance(kOverridden)) declare(c, known[i]);
      }
      for (uint32_t super : classes_[c].supers) {
        if (is_class(super)) continue;
        for (uint32_t signature : classes_[super].signatures) declare(c, signature);
      }
      if (random_.chance(0.2)) {
        class_initializer_.push_back({c, add_method(c, {{}, some_type()}, true)});
      }
      if (random_.chance(0.5)) {
        Signature made{{some_type(), some_type()}, some_type()};
        static_methods_.push_back(add_method(c, std::move(made), true));
      }
      constructors_.push_back(add_method(c, {{some_type()}, kObject}, false));
    }
    // What a container does with its field: one method puts, the other gets.
    for (uint32_t c = 1; c <= shape_.containers; ++c) {
      const auto add_signature = [&](Signature signature) {
        signatures_.push_back(std::move(signature));
        return static_cast<uint32_t>(signatures_.size() - 1);
      };
      puts_.push_back(add_signature({{kObject}, kObject}));
      gets_.push_back(add_signature({{}, kObject}));
      const uint32_t field = classes_[c].fields[0];
      const uint32_t put = add_method(c, signatures_[puts_.back()], false);
      const uint32_t get = add_method(c, signatures_[gets_.back()], false);
      add_row(declares_, {c, puts_.back(), put});
      add_row(declares_, {c, gets_.back(), get});
      const uint32_t put_this = next_variable_++;
      const uint32_t item = next_variable_++;
      this_variable_.push_back({put, put_this});
      add_row(formal_parameter_, {put, 0, item});
      add_row(store_field_, {put_this, field, item});
      const uint32_t get_this = next_variable_++;
      const uint32_t found = next_variable_++;
      this_variable_.push_back({get, get_this});
      add_row(load_field_, {found, get_this, field});
      return_value_.push_back({get, found});
      container_methods_.insert(container_methods_.end(), {put, get});
    }
  }

  // ---- bodies ----

  void make_body(uint32_t m) {
    if (std::binary_search(container_methods_.begin(), container_methods_.end(), m)) return;
    method_ = m;
    scope_.clear();
    if (!methods_[m].is_static) {
      this_variable_.push_back({m, new_variable(methods_[m].owner)});
    }
    const Signature signature = methods_[m].signature;
    for (uint32_t p = 0; p < signature.parameters.size(); ++p) {
      add_row(formal_parameter_, {m, p, new_variable(signature.parameters[p])});
    }
    const uint32_t locals = shape_.locals / 2 + random_.below(shape_.locals);
    for (uint32_t i = 0; i < locals; ++i) define_local();
    for (uint32_t i = random_.below(3); i > 0; --i) store_something();
    for (uint32_t i = random_.times(shape_.container_use); i > 0; --i) use_container();
    return_value_.push_back({m, some_value(signature.result)});
  }

  uint32_t new_variable(uint32_t type) {
    scope_.push_back({type, next_variable_});
    return next_variable_++;
  }

  const Variable& some_variable() {
    return scope_[random_.below(static_cast<uint32_t>(scope_.size()))];
  }

  // A variable of the method that may be used where the type is asked for.
  std::optional<uint32_t> variable_of(uint32_t type) {
    if (scope_.empty()) return std::nullopt;
    const auto size = static_cast<uint32_t>(scope_.size());
    const uint32_t start = random_.below(size);
    for (uint32_t i = 0; i < size; ++i) {
      const Variable& found = scope_[(start + i) % size];
      if (is_subtype(found.type, type)) return found.id;
    }
    return std::nullopt;
  }

  // The same, or a new object.
  uint32_t some_value(uint32_t type) {
    if (std::optional<uint32_t> found = variable_of(type)) return *found;
    const uint32_t made = new_variable(type);
    allocate(made, type);
    return made;
  }

  // Where the method has no variable of the type, a new object now and then.
  std::optional<uint32_t> value_or_null(uint32_t type) {
    if (std::optional<uint32_t> found = variable_of(type)) return found;
    return random_.chance(0.3) ? std::optional(some_value(type)) : std::nullopt;
  }

  void allocate(uint32_t variable, uint32_t type) {
    const std::vector<uint32_t>& possible = classes_[type].below;
    const uint32_t chosen =
        possible.empty() ? kObject
                         : possible[random_.skewed(static_cast<uint32_t>(possible.size()), 2)];
    heap_type_.push_back({next_object_, chosen});
    add_row(alloc_, {variable, next_object_++, method_});
    if (!random_.chance(0.7)) return;
    const uint32_t call = next_call_++;
    const uint32_t constructor = constructors_[chosen];
    add_row(special_call_, {call, variable, constructor});
    pass_arguments(call, methods_[constructor].signature);
  }

  void pass_arguments(uint32_t call, const Signature& signature) {
    for (uint32_t p = 0; p < signature.parameters.size(); ++p) {
      if (std::optional<uint32_t> value = value_or_null(signature.parameters[p])) {
        add_row(actual_argument_, {call, p, *value});
      }
    }
  }

  void define_local() {
    const double kind = random_.unit();
    if (scope_.empty() || kind < 0.2) {
      const uint32_t type = some_type();
      allocate(new_variable(type), type);
    } else if (kind < 0.3) {
      const Variable from = some_variable();
      const std::vector<uint32_t>& above = classes_[from.type].supers;
      const uint32_t type = above[random_.below(static_cast<uint32_t>(above.size()))];
      assign_.push_back({new_variable(type), from.id});
    } else if (kind < 0.5) {
      load_some_field();
    } else if (kind < 0.75) {
      call_virtually();
    } else if (kind < 0.87) {
      call_statically();
    } else if (kind < 0.91) {
      const uint32_t field = random_.skewed(shape_.classes, 2);
      add_row(load_static_, {new_variable(static_field_types_[field]), field, method_});
    } else if (kind < 0.96) {
      use_array();
    } else {
      const Variable from = some_variable();
      const std::vector<uint32_t>& possible = classes_[from.type].below;
      if (possible.empty()) return;
      const uint32_t type = possible[random_.below(static_cast<uint32_t>(possible.size()))];
      add_row(cast_, {new_variable(type), from.id, type});
    }
  }

  void load_some_field() {
    const Variable base = some_variable();
    const std::vector<uint32_t>& fields = classes_[base.type].fields;
    if (fields.empty()) return;
    const uint32_t field = fields[random_.below(static_cast<uint32_t>(fields.size()))];
    add_row(load_field_, {new_variable(field_types_[field]), base.id, field});
  }

  void call_virtually() {
    const Variable base = some_variable();
    const std::vector<uint32_t>& known = classes_[base.type].signatures;
    if (known.empty()) return;
    const uint32_t signature = known[random_.skewed(static_cast<uint32_t>(known.size()), 1.5)];
    const uint32_t call = next_call_++;
    add_row(virtual_call_, {call, base.id, signature});
    pass_arguments(call, signatures_[signature]);
    actual_return_.push_back({call, new_variable(signatures_[signature].result)});
  }

  void call_statically() {
    if (static_methods_.empty()) return;
    const uint32_t callee =
        static_methods_[random_.skewed(static_cast<uint32_t>(static_methods_.size()), 2)];
    const uint32_t call = next_call_++;
    add_row(static_call_, {call, callee, method_});
    pass_arguments(call, methods_[callee].signature);
    actual_return_.push_back({call, new_variable(methods_[callee].signature.result)});
  }

  // A new array, something put in, something taken out.
  void use_array() {
    const Variable item = some_variable();
    const uint32_t type = is_class(item.type) ? item.type : kObject;
    const uint32_t array = next_variable_++;
    heap_type_.push_back({next_object_, array_of(type)});
    add_row(alloc_, {array, next_object_++, method_});
    store_array_.push_back({array, item.id});
    load_array_.push_back({new_variable(type), array});
  }

  void store_something() {
    if (random_.chance(0.15)) {
      const uint32_t field = random_.skewed(shape_.classes, 2);
      if (std::optional<uint32_t> value = value_or_null(static_field_types_[field])) {
        store_static_.push_back({field, *value});
      }
      return;
    }
    if (scope_.empty()) return;
    const Variable base = some_variable();
    const std::vector<uint32_t>& fields = classes_[base.type].fields;
    if (fields.empty()) return;
    const uint32_t field = fields[random_.below(static_cast<uint32_t>(fields.size()))];
    if (std::optional<uint32_t> value = value_or_null(field_types_[field])) {
      add_row(store_field_, {base.id, field, *value});
    }
  }

  // container = new C; container.put(x); y = (T) container.get();
  void use_container() {
    if (scope_.empty()) return;
    const Variable item = some_variable();
    const uint32_t type = some_container();
    const uint32_t container = new_variable(type);
    heap_type_.push_back({next_object_, type});
    add_row(alloc_, {container, next_object_++, method_});
    const uint32_t put = next_call_++;
    add_row(virtual_call_, {put, container, puts_[type - 1]});
    add_row(actual_argument_, {put, 0, item.id});
    const uint32_t get = next_call_++;
    const uint32_t found = next_variable_++;
    add_row(virtual_call_, {get, container, gets_[type - 1]});
    actual_return_.push_back({get, found});
    add_row(cast_, {new_variable(item.type), found, item.type});
  }

  // A thousandth of the methods, so that most of the rest are found through calls.
  void make_entries() {
    for (uint32_t n = 0; n < 1 + methods_.size() / 1000; ++n) {
      entries_.push_back(random_.below(static_cast<uint32_t>(methods_.size())));
    }
    std::sort(entries_.begin(), entries_.end());
    entries_.erase(std::unique(entries_.begin(), entries_.end()), entries_.end());
  }

  // ---- tables ----

  using Triples = std::vector<std::array<uint32_t, 3>>;
  static void add_row(Triples& rows, std::array<uint32_t, 3> row) { rows.push_back(row); }

  static Table triples(std::string relation, Triples rows) {
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    Table table{std::move(relation), 3, {}};
    for (const auto& row : rows) table.values.insert(table.values.end(), row.begin(), row.end());
    return table;
  }

  Tables take_tables() {
    return {table_of("superclass", std::move(superclass_)),
            table_of("superinterface", std::move(superinterface_)),
            table_of("component_type", std::move(component_type_)),
            table_of("heap_type", std::move(heap_type_)),
            triples("declares", std::move(declares_)),
            table_of("class_initializer", std::move(class_initializer_)),
            table_of("method_class", std::move(method_class_)),
            triples("formal_parameter", std::move(formal_parameter_)),
            table_of("this_variable", std::move(this_variable_)),
            table_of("return_value", std::move(return_value_)),
            {"entry_method", 1, std::move(entries_)},
            triples("alloc", std::move(alloc_)),
            table_of("assign", std::move(assign_)),
            triples("cast", std::move(cast_)),
            triples("load_field", std::move(load_field_)),
            triples("store_field", std::move(store_field_)),
            triples("load_static", std::move(load_static_)),
            table_of("store_static", std::move(store_static_)),
            table_of("load_array", std::move(load_array_)),
            table_of("store_array", std::move(store_array_)),
            triples("static_call", std::move(static_call_)),
            triples("special_call", std::move(special_call_)),
            triples("virtual_call", std::move(virtual_call_)),
            triples("actual_argument", std::move(actual_argument_)),
            table_of("actual_return", std::move(actual_return_))};
  }

  ProgramShape shape_;
  Random random_;
  std::vector<Class> classes_;
  std::vector<Signature> signatures_;
  std::vector<uint32_t> puts_, gets_;  // by container: signatures
  std::vector<Method> methods_;
  std::vector<uint32_t> constructors_;  // by class
  std::vector<uint32_t> static_methods_, container_methods_;
  std::vector<uint32_t> field_types_, static_field_types_;

  // Of the method whose body is being made.
  uint32_t method_ = 0;
  std::vector<Variable> scope_;

  uint32_t next_variable_ = 0, next_object_ = 0, next_call_ = 0;
  std::vector<uint32_t> entries_;
  Edges superclass_, superinterface_, component_type_, heap_type_, class_initializer_;
  Edges method_class_, this_variable_, return_value_, assign_, store_static_;
  Edges load_array_, store_array_, actual_return_;
  Triples declares_, formal_parameter_, alloc_, cast_, load_field_, store_field_, load_static_;
  Triples static_call_, special_call_, virtual_call_, actual_argument_;
};

inline Tables object_program(const ProgramShape& shape, uint64_t seed) {
  return ProgramMaker(shape, seed).make();
}

}  // namespace xlog::bench
