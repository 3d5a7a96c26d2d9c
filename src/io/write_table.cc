// Answers for people.
//
//   ?- safe(P).
//   P      status
//   -----  --------
//   alice  known
//   bob    possible
//   2 rows
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "io/write.h"

namespace xlog::io {

std::string counted(const mpz_class& n, std::string_view noun) {
  return fmt::format("{} {}{}", logic::short_text(n), noun, n == 1 ? "" : "s");
}

std::string cell_text(const lang::Value& value, const lang::Names& names) {
  return printable(lang::to_raw(value, names));
}

void append_cell(std::string& out, std::string_view text, const TableColumn& column, bool last) {
  const size_t width = display_width(text);
  const size_t padding = column.width > width ? column.width - width : 0;
  if (column.right) out.append(padding, ' ');
  out += text;
  if (!column.right && !last) out.append(padding, ' ');
  if (!last) out += "  ";
}

void write_table_header(const std::vector<TableColumn>& columns, bool bold, Output& out) {
  std::string titles, rule;
  for (size_t c = 0; c < columns.size(); ++c) {
    append_cell(titles, columns[c].title, columns[c], c + 1 == columns.size());
    rule.append(columns[c].width, '-');
    if (c + 1 < columns.size()) rule += "  ";
  }
  out.text += bold ? fmt::format("\x1b[1m{}\x1b[0m\n", titles) : titles + "\n";
  out.text += rule + "\n";
}

namespace {

class TableWriter {
 public:
  TableWriter(const Results& results, Output& out) : results_(results), out_(out) {}

  void write_section(const Section& section, bool always_status) {
    for (const uint32_t q : results_.queries) {
      separate();
      if (results_.query_texts) {
        heading(fmt::format("?- {}.", printable(results_.program.queries[q].text)));
      }
      const logic::QueryAnswer& answer = (*section.queries)[q];
      if (results_.program.queries[q].columns.empty()) {
        // What is only known, should there be a view, is not called true where that is open.
        const bool shows_status = always_status && !answer.rows.empty();
        line(shows_status ? logic::spelling(answer.rows.front().status) : truth(answer));
      } else {
        write_rows(results_.program.queries[q], answer, always_status);
      }
    }
  }

  void write_worlds(const logic::WorldView& view) {
    separate();
    heading("worlds");
    for (const std::vector<std::string>& world : view.worlds) {
      out_.text += '{';
      for (size_t i = 0; i < world.size(); ++i) {
        if (i > 0) out_.text += ", ";
        out_.text += printable(world[i]);
      }
      out_.text += "}\n";
      out_.pass_on();
    }
    if (view.world_count > view.worlds.size()) {
      line(fmt::format("{} of {} shown; `--worlds all` lists the rest", view.worlds.size(),
                       counted(view.world_count, "world")));
    }
  }

  // Blocks are separated by an empty line.
  void separate() {
    if (!first_) out_.text += '\n';
    first_ = false;
  }
  void heading(std::string_view text) {
    out_.text +=
        results_.bold ? fmt::format("\x1b[1m{}\x1b[0m\n", text) : fmt::format("{}\n", text);
  }
  void line(std::string_view text) {
    out_.text += text;
    out_.text += '\n';
  }

 private:
  // Twice over the rows, for the widths and for the text, rather than keeping the text of every
  // cell.
  void write_rows(const lang::Query& query, const logic::QueryAnswer& answer, bool always_status) {
    const lang::Names& names = results_.session.names;
    std::vector<TableColumn> columns;
    for (const Symbol column : query.columns) {
      columns.push_back({printable(names.symbols.text(column)), 0, !answer.rows.empty()});
      columns.back().width = display_width(columns.back().title);
    }
    bool show_status = always_status;
    size_t status_width = std::string_view("status").size();
    for (const logic::Row& row : answer.rows) {
      for (size_t c = 0; c < row.values.size(); ++c) {
        columns[c].width =
            std::max(columns[c].width, display_width(cell_text(row.values[c], names)));
        columns[c].right = columns[c].right && lang::is_numeric(row.values[c].kind);
      }
      show_status = show_status || !is_certain(row.status);
      status_width = std::max(status_width, logic::spelling(row.status).size());
    }
    if (show_status) columns.push_back({"status", status_width, false});
    if (!answer.rows.empty()) write_table_header(columns, results_.bold, out_);
    for (const logic::Row& row : answer.rows) {
      for (size_t c = 0; c < row.values.size(); ++c) {
        append_cell(out_.text, cell_text(row.values[c], names), columns[c],
                    c + 1 == columns.size());
      }
      if (show_status) out_.text += logic::spelling(row.status);
      out_.text += '\n';
      out_.pass_on();
    }
    line(counted(mpz_class(static_cast<unsigned long>(answer.rows.size())), "row"));
  }

  const Results& results_;
  Output& out_;
  bool first_ = true;
};

}  // namespace

void write_table(const Results& results, Output& out) {
  const logic::Answer& answer = results.answer;
  TableWriter writer(results, out);
  if (answer.well_founded) return writer.write_section({0, &answer.well_founded_queries}, false);
  if (answer.unfinished) {
    if (answer.settled_queries.empty()) return;
    writer.separate();
    writer.line(
        "Not finished. What is settled so far: true whatever the guesses; known or possible in\n"
        "the parts that were solved, should there be a world view; undefined where the search\n"
        "did not come to an end.");
    return writer.write_section({0, &answer.settled_queries}, true);
  }
  if (answer.view_count == 0) {
    writer.separate();
    writer.line("No world view. What is true or undefined in the well-founded model:");
    return writer.write_section({0, &answer.well_founded_queries}, true);
  }
  for (const Section& section : sections(answer)) {
    const logic::WorldView& view = answer.views[section.view - 1];
    if (answer.view_count > 1 || !answer.all_found) {
      writer.separate();
      writer.heading(fmt::format(
          "world view {} of {}{} ({})", section.view, answer.all_found ? "" : "at least ",
          logic::short_text(answer.view_count), counted(view.world_count, "world")));
    } else if (view.world_count > 1) {
      writer.separate();
      writer.heading(fmt::format("1 world view with {}", counted(view.world_count, "world")));
    }
    writer.write_section(section, false);
    if (results.worlds) writer.write_worlds(view);
  }
}

}  // namespace xlog::io
