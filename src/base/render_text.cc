// Diagnostics as text, in the manner of modern compilers:
//
//   error[E0301]: `X` is a symbol here and a u32 there
//     --> family.xlog:3:12
//      |
//    2 | age(ann, 31).
//      |          -- u32 comes from here
//    3 | p(X) :- name(X), age(_, X).
//      |              ^
//      = help: ...
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/line_index.h"
#include "base/text.h"

namespace xlog {
namespace {

constexpr size_t kTabStop = 4;

// A style is on between paint(style) and paint(kPlain); both are empty without colour.
constexpr std::string_view kPlain = "\x1b[0m", kBold = "\x1b[1m", kBlue = "\x1b[1;34m",
                           kRed = "\x1b[1;31m", kYellow = "\x1b[1;33m", kCyan = "\x1b[1;36m";

std::string_view color_of(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return kRed;
    case Severity::Warning:
      return kYellow;
    case Severity::Note:
      return kCyan;
  }
  return "";
}

// Something to point at on one line. The main mark has no text and is drawn with ^.
struct Mark {
  Span span;
  Line line;
  bool main = false;
  std::string text;
};

// The part of a line that is shown, and in which column each of its bytes stands.
struct Shown {
  std::string text;
  size_t first = 0, last = 0;   // bytes of the line that are shown: [first, last)
  std::vector<size_t> columns;  // of byte first + i; one more for the end

  size_t column_of(size_t byte) const { return columns[std::clamp(byte, first, last) - first]; }
};

// A long line is shown as a window around byte `focus`.
Shown show_line(std::string_view line, size_t focus, size_t width) {
  width = std::max<size_t>(width, 40);
  // No character takes less than a quarter column a byte, so this much is enough on either side.
  size_t from = focus > 4 * width ? focus - 4 * width : 0;
  const size_t to = std::min(line.size(), focus + 4 * width);
  while (from < focus && from > 0 && (line[from] & 0xC0) == 0x80) ++from;

  struct Cell {
    size_t byte, column;
    std::string text;
  };
  std::vector<Cell> cells;
  size_t column = 0, focus_column = 0;
  for (size_t at = from; at < to;) {
    const CodePoint c = decode_utf8(line, at);
    Cell cell{at, column, {}};
    if (c.value == '\t') {
      cell.text.assign(kTabStop - column % kTabStop, ' ');
    } else {
      append_printable(cell.text, c);
    }
    if (at <= focus) focus_column = column;
    column += c.value == '\t' ? cell.text.size() : display_width(cell.text);
    cells.push_back(std::move(cell));
    at += c.bytes;
  }
  if (focus >= to) focus_column = column;

  // In columns: keep a third of the window before the focus.
  size_t window_begin = focus_column > width / 3 ? focus_column - width / 3 : 0;
  if (column <= window_begin + width) window_begin = column > width ? column - width : 0;
  const size_t window_end = window_begin + width;

  Shown shown;
  const auto inside = [&](const Cell& cell) {
    return cell.column >= window_begin && cell.column < window_end;
  };
  const auto first = std::find_if(cells.begin(), cells.end(), inside);
  auto last = first;
  while (last != cells.end() && inside(*last)) ++last;
  const bool cut_before = from > 0 || first != cells.begin();
  const bool cut_after = last != cells.end() || to < line.size();
  shown.first = first == cells.end() ? to : first->byte;
  shown.last = last == cells.end() ? to : last->byte;
  if (cut_before) shown.text = "...";
  const size_t shift = shown.text.size();
  const size_t base = first == cells.end() ? column : first->column;
  shown.columns.assign(shown.last - shown.first + 1, 0);
  for (auto cell = first; cell != last; ++cell) {
    const auto next = std::next(cell);
    const size_t end_byte = next == cells.end() ? to : next->byte;
    for (size_t b = cell->byte; b < end_byte; ++b) {
      shown.columns[b - shown.first] = cell->column - base + shift;
    }
    shown.text += cell->text;
  }
  shown.columns.back() = (last == cells.end() ? column : last->column) - base + shift;
  if (cut_after) shown.text += "...";
  return shown;
}

class TextRenderer {
 public:
  TextRenderer(const SourceMap& sources, const RenderOptions& options)
      : lines_(sources), options_(options) {}

  void render(const Diagnostic& d, std::string& out) {
    paint(out, color_of(d.severity));
    out += fmt::format("{}[{}]", spelling(d.severity), code_info(d.code).name);
    paint(out, kPlain);
    paint(out, kBold);
    out += ": " + indented(d.message, "  ");
    paint(out, kPlain);
    out += '\n';

    const std::vector<Mark> marks = marks_of(d);
    gutter_ = 1;
    for (const Mark& mark : marks) {
      gutter_ = std::max(gutter_, std::to_string(mark.line.number).size());
    }
    if (d.span.empty() && !d.place.empty()) place_line("-->", printable(d.place), out);
    snippets(marks, color_of(d.severity), out);
    for (const std::string& note : d.notes) footer("note", note, out);
    if (!d.help_text.empty()) footer("help", d.help_text, out);
  }

 private:
  void paint(std::string& out, std::string_view style) const {
    if (options_.color) out += style;
  }

  // A text of several lines keeps them, each after `indent`; nothing else in it reaches the
  // terminal raw.
  static std::string indented(std::string_view text, std::string_view indent) {
    std::string out;
    while (true) {
      const size_t newline = text.find('\n');
      out += printable(text.substr(0, newline));
      if (newline == std::string_view::npos) return out;
      out += '\n';
      out += indent;
      text.remove_prefix(newline + 1);
    }
  }

  std::vector<Mark> marks_of(const Diagnostic& d) {
    std::vector<Mark> marks;
    const auto add = [&](Span span, bool main, const std::string& text) {
      if (lines_.file_at(span.begin) == nullptr) return;
      marks.push_back({span, lines_.line_at(span.begin), main, printable(text)});
    };
    if (!d.span.empty()) add(d.span, true, "");
    for (const Label& label : d.labels) {
      if (!label.span.empty()) add(label.span, false, label.text);
    }
    return marks;
  }

  void margin(std::string_view number, std::string_view bar, std::string& out) const {
    paint(out, kBlue);
    out += fmt::format(" {:>{}} {}", number, gutter_, bar);
    paint(out, kPlain);
  }

  void place_line(std::string_view arrow, std::string_view text, std::string& out) const {
    paint(out, kBlue);
    out += fmt::format("{:>{}}", arrow, gutter_ + 4);
    paint(out, kPlain);
    out += fmt::format(" {}\n", text);
  }

  void footer(std::string_view kind, std::string_view text, std::string& out) const {
    margin("", "=", out);
    const std::string indent(gutter_ + kind.size() + 6, ' ');
    out += ' ';
    paint(out, kBold);
    out += kind;
    paint(out, kPlain);
    out += ": " + indented(text, indent) + "\n";
  }

  // The file of the main mark first, then the others as they come; in a file line by line.
  void snippets(const std::vector<Mark>& marks, std::string_view color, std::string& out) {
    std::vector<const SourceFile*> files;
    for (const Mark& mark : marks) {
      const SourceFile* file = lines_.file_at(mark.span.begin);
      if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
    }
    for (const SourceFile* file : files) {
      std::vector<const Mark*> here;
      for (const Mark& mark : marks) {
        if (lines_.file_at(mark.span.begin) == file) here.push_back(&mark);
      }
      const Place place = lines_.place(here.front()->span.begin);
      place_line(file == files.front() ? "-->" : ":::",
                 fmt::format("{}:{}:{}", printable(place.file), place.line, place.column), out);
      std::stable_sort(here.begin(), here.end(), [](const Mark* a, const Mark* b) {
        return a->line.number < b->line.number;
      });
      margin("", "|\n", out);
      uint32_t previous = 0;
      for (size_t i = 0; i < here.size();) {
        size_t end = i;
        while (end < here.size() && here[end]->line.number == here[i]->line.number) ++end;
        if (previous != 0 && here[i]->line.number > previous + 1) margin("", ":\n", out);
        previous = here[i]->line.number;
        marked_line(
            {here.begin() + static_cast<ptrdiff_t>(i), here.begin() + static_cast<ptrdiff_t>(end)},
            color, out);
        i = end;
      }
    }
  }

  struct Drawn {
    const Mark* mark;
    size_t begin, end;  // columns
  };

  void marked_line(const std::vector<const Mark*>& marks, std::string_view color,
                   std::string& out) {
    const Line& line = marks.front()->line;
    const Mark* focus = marks.front();
    for (const Mark* mark : marks) {
      if (mark->main) focus = mark;
    }
    const Shown shown = show_line(line.text, focus->span.begin - line.begin, options_.width);
    margin(std::to_string(line.number), "|", out);
    if (!shown.text.empty()) out += " " + shown.text;
    out += '\n';

    std::vector<Drawn> drawn;
    for (const Mark* mark : marks) {
      const size_t begin = shown.column_of(mark->span.begin - line.begin);
      // A span over several lines is marked to the end of its first.
      const size_t end = shown.column_of(std::min<size_t>(
          mark->span.end - std::min(mark->span.end, line.begin), line.text.size()));
      drawn.push_back({mark, begin, std::max(end, begin + 1)});
    }
    draw_marks(drawn, color, out);
  }

  // One row of ^ and -, the text of the rightmost mark beside it, the other texts below it from
  // right to left, each hanging from its mark by a |.
  void draw_marks(const std::vector<Drawn>& drawn, std::string_view color, std::string& out) {
    size_t end = 0;
    for (const Drawn& d : drawn) end = std::max(end, d.end);
    std::string row(end, ' ');
    for (const bool main : {false, true}) {
      for (const Drawn& d : drawn) {
        if (d.mark->main == main) {
          std::fill(row.begin() + static_cast<ptrdiff_t>(d.begin),
                    row.begin() + static_cast<ptrdiff_t>(d.end), main ? '^' : '-');
        }
      }
    }
    std::vector<Drawn> texts;
    for (const Drawn& d : drawn) {
      if (!d.mark->text.empty()) texts.push_back(d);
    }
    std::stable_sort(texts.begin(), texts.end(),
                     [](const Drawn& a, const Drawn& b) { return a.begin < b.begin; });
    std::string beside;
    if (!texts.empty() && texts.back().end == end) {
      beside = " " + texts.back().mark->text;
      texts.pop_back();
    }
    margin("", "| ", out);
    paint_row(row, color, out);
    if (!beside.empty()) {
      paint(out, kBlue);
      out += beside;
      paint(out, kPlain);
    }
    out += '\n';

    if (!texts.empty()) hanging_row(texts, "", out);
    while (!texts.empty()) {
      const Drawn last = texts.back();
      texts.pop_back();
      std::string text(last.begin, ' ');
      for (const Drawn& d : texts) {
        if (d.begin < last.begin) text[d.begin] = '|';
      }
      hanging_row({}, text + last.mark->text, out);
    }
  }

  void hanging_row(const std::vector<Drawn>& bars, std::string text, std::string& out) const {
    for (const Drawn& d : bars) {
      if (text.size() <= d.begin) text.resize(d.begin + 1, ' ');
      text[d.begin] = '|';
    }
    margin("", "| ", out);
    paint(out, kBlue);
    out += text;
    paint(out, kPlain);
    out += '\n';
  }

  void paint_row(std::string_view row, std::string_view color, std::string& out) const {
    if (!options_.color) {
      out += row;
      return;
    }
    for (size_t i = 0; i < row.size();) {
      size_t end = i;
      while (end < row.size() && row[end] == row[i]) ++end;
      if (row[i] != ' ') out += row[i] == '^' ? color : kBlue;
      out += row.substr(i, end - i);
      if (row[i] != ' ') out += kPlain;
      i = end;
    }
  }

  LineIndex lines_;
  RenderOptions options_;
  size_t gutter_ = 1;
};

std::string counted(size_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

// "3 errors, 1 warning": after several diagnostics only, one speaks for itself.
std::string closing_count(const Diagnostics& diagnostics, bool errors_only) {
  size_t kept_errors = 0, warnings = 0;
  for (const Diagnostic& d : diagnostics.all()) {
    kept_errors += d.severity == Severity::Error;
    warnings += d.severity == Severity::Warning && !errors_only;
  }
  std::string out;
  const size_t dropped = diagnostics.error_count() - kept_errors;
  if (dropped > 0) out += fmt::format("... and {}\n\n", counted(dropped, "more error"));
  if (diagnostics.error_count() + warnings < 2) return out;
  if (diagnostics.has_errors()) out += counted(diagnostics.error_count(), "error");
  if (diagnostics.has_errors() && warnings > 0) out += ", ";
  if (warnings > 0) out += counted(warnings, "warning");
  return out + "\n";
}

}  // namespace

std::string render_text(const Diagnostic& diagnostic, const SourceMap& sources,
                        const RenderOptions& options) {
  std::string out;
  TextRenderer(sources, options).render(diagnostic, out);
  return out;
}

std::string render_text(const Diagnostics& diagnostics, const SourceMap& sources,
                        const RenderOptions& options) {
  TextRenderer renderer(sources, options);
  std::string out;
  for (const Diagnostic* d : in_order_of_place(diagnostics)) {
    if (options.errors_only && d->severity != Severity::Error) continue;
    renderer.render(*d, out);
    out += '\n';
  }
  return out + closing_count(diagnostics, options.errors_only);
}

}  // namespace xlog
