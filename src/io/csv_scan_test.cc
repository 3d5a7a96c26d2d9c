#include "io/csv_scan.h"

#include <gtest/gtest.h>

#include <random>

namespace xlog::io {
namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows scan(std::string_view text, char delimiter = ',', size_t together = 100) {
  Rows rows;
  ByteSource source(text);
  CsvScanner scanner(source);
  scanner.begin(delimiter == ',' ? "a.csv" : "a.tsv");
  for (ScanStatus status = scanner.next(together); status != ScanStatus::End;
       status = scanner.next(together)) {
    if (status == ScanStatus::OpenQuote) {
      rows.push_back({"open quote"});
    } else if (status == ScanStatus::TextAfterQuote) {
      rows.push_back({"text after quote"});
    } else {
      EXPECT_EQ(status, ScanStatus::Rows);
      for (size_t row = 0; row < scanner.rows(); ++row) {
        rows.emplace_back();
        for (size_t i = 0; i < scanner.width(); ++i) {
          rows.back().emplace_back(scanner.field(row, i));
        }
      }
    }
  }
  return rows;
}

TEST(CsvScan, Rows) {
  EXPECT_EQ(scan(""), Rows{});
  EXPECT_EQ(scan("a,b"), (Rows{{"a", "b"}}));
  EXPECT_EQ(scan("a,b\nc,d\n"), (Rows{{"a", "b"}, {"c", "d"}}));
  EXPECT_EQ(scan("a,b\r\nc,d\r\n"), (Rows{{"a", "b"}, {"c", "d"}}));
  EXPECT_EQ(scan("a,b\r"), (Rows{{"a", "b"}}));
  EXPECT_EQ(scan("a\n\r"), (Rows{{"a"}}));
  EXPECT_EQ(scan("a,\n,b\n,\n"), (Rows{{"a", ""}, {"", "b"}, {"", ""}}));
  EXPECT_EQ(scan("a,"), (Rows{{"a", ""}}));
  EXPECT_EQ(scan("a b\tc\n", '\t'), (Rows{{"a b", "c"}}));
}

TEST(CsvScan, EmptyLinesAndTheByteOrderMark) {
  EXPECT_EQ(scan("\xEF\xBB\xBF\n\na\n\r\n\nb\n\n"), (Rows{{"a"}, {"b"}}));
  EXPECT_EQ(scan("\"\"\n"), (Rows{{""}}));
}

TEST(CsvScan, Quotes) {
  EXPECT_EQ(scan("\"a,b\",\"c\nd\"\n"), (Rows{{"a,b", "c\nd"}}));
  EXPECT_EQ(scan("\"say \"\"hi\"\"\",x\n"), (Rows{{"say \"hi\"", "x"}}));
  EXPECT_EQ(scan("\"\"\"\"\n"), (Rows{{"\""}}));
  EXPECT_EQ(scan("\"a\"\r\nb\n"), (Rows{{"a"}, {"b"}}));
  EXPECT_EQ(scan("\"a\"\r"), (Rows{{"a"}}));
  EXPECT_EQ(scan("a\"b\n"), (Rows{{"a\"b"}}));  // a quote inside a plain field is a character
}

TEST(CsvScan, QuoteErrors) {
  EXPECT_EQ(scan("\"a\nb\n"), (Rows{{"open quote"}}));
  EXPECT_EQ(scan("\"a\"b,c\nd\n"), (Rows{{"text after quote"}, {"d"}}));
}

TEST(CsvScan, LineNumbers) {
  ByteSource source("a\n\"b\nc\"\n\nd\n");
  CsvScanner scanner(source);
  scanner.begin("a.csv");
  ASSERT_EQ(scanner.next(10), ScanStatus::Rows);
  ASSERT_EQ(scanner.rows(), 3u);
  EXPECT_EQ(scanner.line(0), 1u);
  EXPECT_EQ(scanner.line(1), 2u);
  EXPECT_EQ(scanner.line(2), 5u);
}

TEST(CsvScan, LineNumbersOfErrors) {
  ByteSource source("a\n\"b\n\"c\nd\n\"e\n");
  CsvScanner scanner(source);
  scanner.begin("a.csv");
  ASSERT_EQ(scanner.next(10), ScanStatus::Rows);
  ASSERT_EQ(scanner.next(10), ScanStatus::TextAfterQuote);
  EXPECT_EQ(scanner.line(0), 2u);
  ASSERT_EQ(scanner.next(10), ScanStatus::Rows);
  EXPECT_EQ(scanner.line(0), 4u);
  ASSERT_EQ(scanner.next(10), ScanStatus::OpenQuote);
  EXPECT_EQ(scanner.line(0), 5u);
  ASSERT_EQ(scanner.next(10), ScanStatus::End);
}

TEST(CsvScan, BatchesHaveRowsOfOneWidth) {
  ByteSource source("a,b\nc,d\ne\nf,g\n");
  CsvScanner scanner(source);
  scanner.begin("a.csv");
  ASSERT_EQ(scanner.next(10), ScanStatus::Rows);
  EXPECT_EQ(scanner.rows(), 2u);
  EXPECT_EQ(scanner.width(), 2u);
  ASSERT_EQ(scanner.next(10), ScanStatus::Rows);
  EXPECT_EQ(scanner.width(), 1u);
  EXPECT_EQ(scanner.line(0), 3u);
  ASSERT_EQ(scanner.next(10), ScanStatus::Rows);
  EXPECT_EQ(scanner.line(0), 4u);
  ASSERT_EQ(scanner.next(10), ScanStatus::End);
}

TEST(CsvScan, SaysWhetherABatchIsAscii) {
  ByteSource source("a,b\nc,\xc3\xa4\n");
  CsvScanner scanner(source);
  scanner.begin("a.csv");
  ASSERT_EQ(scanner.next(10), ScanStatus::Rows);
  EXPECT_FALSE(scanner.is_ascii());
}

// Rows of all lengths around the size of the window and of a block, against the rows as they were
// made.
TEST(CsvScan, RandomRowsReadBack) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
    const char delimiter = seed % 2 == 0 ? ',' : '\t';
    static constexpr std::string_view kAlphabet = "ab,\t\n\r\"\xc3\xa4 ";
    const size_t longest = seed % 20 == 0 ? 1'500'000 : below(2) == 0 ? 10 : 200;
    const size_t width = 1 + below(4);
    Rows rows(longest > 1000 ? 4 : 1 + below(400));
    std::string text;
    for (auto& row : rows) {
      const size_t fields = below(20) == 0 ? 1 + below(4) : width;
      for (size_t i = 0; i < fields; ++i) {
        std::string field(below(longest), '\0');
        for (char& c : field) c = kAlphabet[below(below(8) == 0 ? kAlphabet.size() : 2)];
        if (i > 0) text += delimiter;
        const size_t before = text.size();
        append_field(text, field, delimiter);
        if (fields == 1 && text.size() == before) text += "\"\"";
        row.push_back(std::move(field));
      }
      text += below(2) == 0 ? "\n" : "\r\n";
      if (below(10) == 0) text += "\n";
    }
    ASSERT_EQ(scan(text, delimiter, 1 + below(64)), rows);
  }
}

TEST(CsvScan, WhatIsWrittenReadsBack) {
  const std::vector<std::string> fields = {
      "plain", "with,comma", "with \"quotes\"", "two\nlines", "", "tab\there", "cr\r"};
  for (const char delimiter : {',', '\t'}) {
    std::string text;
    for (size_t i = 0; i < fields.size(); ++i) {
      if (i > 0) text += delimiter;
      append_field(text, fields[i], delimiter);
    }
    EXPECT_EQ(scan(text + "\n", delimiter), Rows{fields});
  }
}

TEST(CsvScan, Delimiter) {
  EXPECT_EQ(delimiter_of("a.csv", "x\ty"), ',');
  EXPECT_EQ(delimiter_of("a.TSV", "x,y"), '\t');
  EXPECT_EQ(delimiter_of("a.tab", ""), '\t');
  EXPECT_EQ(delimiter_of("a.facts", "x\ty\n"), '\t');
  EXPECT_EQ(delimiter_of("a", "x,y\n\t"), ',');
  EXPECT_EQ(delimiter_of("a.tsv.gz", "x,y"), '\t');
  EXPECT_EQ(delimiter_of("a.csv.ZST", "x\ty"), ',');
}

}  // namespace
}  // namespace xlog::io
