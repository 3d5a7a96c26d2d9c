#include "logic/answer.h"

namespace xlog::logic {

std::string_view spelling(Mode mode) {
  switch (mode) {
    case Mode::G91:
      return "g91";
    case Mode::Faeel:
      return "faeel";
    case Mode::Faeel19:
      return "faeel19";
  }
  return "";
}

std::string_view spelling(RowStatus status) {
  switch (status) {
    case RowStatus::Known:
      return "known";
    case RowStatus::Possible:
      return "possible";
    case RowStatus::True:
      return "true";
    case RowStatus::Undefined:
      return "undefined";
  }
  return "";
}

}  // namespace xlog::logic
