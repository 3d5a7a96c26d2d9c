// From components to rows and ground rules. Components are taken in dependency order: a settled one
// is evaluated to its rows; for an open one the rows that may hold are computed first (every open
// literal taken as possible), then its rules are instantiated over them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oracle/context.h"
#include "oracle/ground.h"
#include "oracle/matcher.h"

namespace xlog::oracle {

struct Instantiation {
  Database database;
  GroundProgram ground;
  // A constraint whose body holds whatever the open atoms do, with the instance as text.
  struct Violation {
    uint32_t rule;
    std::string instance;
  };
  std::optional<Violation> violation;
};

// Which components are evaluated directly: the determined ones, and positive modal cycles where
// foundedness makes them least fixpoints.
bool is_settled(const logic::Component& component, const logic::AnswerOptions& options);

Instantiation instantiate(Context& context);

// By the memory that it takes, about.
std::optional<logic::RelationSize> largest_relation(const Database& database,
                                                    const Context& context);

}  // namespace xlog::oracle
