// `xlog explain --stage worldviews`: the world views of a program as a picture. Parts of the
// program that do not influence each other are shown side by side, equal ones once; a world view of
// the program takes one view of each part, and a world of it one world of each of these.
#pragma once

#include <gmpxx.h>

#include <string>
#include <vector>

#include "epistemic/findings.h"
#include "logic/answer.h"

namespace xlog::epistemic {

// The first of many.
struct SomeTexts {
  std::vector<std::string> texts;
  uint64_t left_out = 0;
};

struct PictureView {
  SomeTexts known;                // in every world
  mpz_class worlds = 1;           // how many there are
  std::vector<SomeTexts> listed;  // the first of them: what is in them and not known
};

struct PicturePart {
  uint64_t equal = 1;  // parts that look like this one
  SomeTexts others;    // an atom of each of the others
  SomeTexts atoms;     // of a part without a view
  uint32_t views = 0;  // how many there are
  std::vector<PictureView> listed;
};

struct Picture {
  mpz_class views = 0;
  logic::WorldCounts worlds{0, 0, 0};
  SomeTexts certain;  // atoms that might have been open, and are in every world
  std::vector<PicturePart> parts;
  uint64_t parts_left_out = 0;
};

inline constexpr uint64_t kPictureWorlds = 8;  // AnswerOptions::max_worlds, for a picture

Picture picture_of(const Findings& findings);

std::string picture_text(const Picture& picture);
// Counts of the whole program can have thousands of digits.
enum class Numbers : uint8_t { Exact, Short };
std::string picture_json(const Picture& picture, Numbers numbers = Numbers::Exact);
std::string picture_dot(const Picture& picture);

}  // namespace xlog::epistemic
