// Relations with a minimum or maximum inside their own recursion (logic/monotone.h): of the rows
// that agree in all other columns only the best is kept.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "logic/analysis.h"
#include "oracle/context.h"
#include "oracle/relation.h"

namespace xlog::oracle {

// Values as something that compares.
using Key = std::vector<std::pair<uint8_t, uint64_t>>;
Key key_of(const std::vector<Value>& values);

// Makes the best of a relation's rows and the candidates its rows; whether that changed them.
bool keep_best(Relation& relation, const logic::Best& best, std::vector<Tuple> candidates,
               Context& context);

}  // namespace xlog::oracle
