#include "io/csv_scan.h"

#include <gtest/gtest.h>

namespace xlog::io {
namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows scan(std::string_view text, char delimiter = ',') {
  Rows rows;
  CsvScanner scanner(text, delimiter);
  for (ScanStatus status = scanner.next(); status != ScanStatus::End; status = scanner.next()) {
    if (status == ScanStatus::OpenQuote) {
      rows.push_back({"open quote"});
    } else if (status == ScanStatus::TextAfterQuote) {
      rows.push_back({"text after quote"});
    } else {
      rows.emplace_back(scanner.fields().begin(), scanner.fields().end());
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
  CsvScanner scanner("a\n\"b\nc\"\n\nd\n", ',');
  scanner.next();
  EXPECT_EQ(scanner.line(), 1u);
  scanner.next();
  EXPECT_EQ(scanner.line(), 2u);
  scanner.next();
  EXPECT_EQ(scanner.line(), 5u);
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
}

}  // namespace
}  // namespace xlog::io
