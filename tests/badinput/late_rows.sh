# A bad row far behind in a large file, plain and packed; files that cannot be read at all. The
# message names the file and the row, and there is no output file.
. "$(dirname "$0")/lib.sh"
seconds=$((seconds * 6)) # large files, on a machine that may be busy

echo 'pred p(id: u32, name: symbol). ?- p(0, Y).' >p.xlog
echo 'pred p(id: u32, name: symbol). :- p(3, _). ?- p(X, Y).' >constraint.xlog

# rejects_file FILE MESSAGE...: each part of it.
rejects_file() {
  file=$1
  shift
  timeout $seconds "$xlog" run p.xlog --input p="$file" --output answers.csv >out 2>err
  status=$?
  [ $status -eq 1 ] || fail "$file: exit status $status, not 1"
  for part in "$@"; do expect_err "$part"; done
  [ -z "$(ls | grep '^answers')" ] || fail "$file: left $(ls | grep '^answers')"
}

# bad_row NAME ROW MESSAGE: as row 1,234,567.
bad_row() {
  awk -v row="$2" 'BEGIN { for (i = 1; i <= 1300000; ++i) print i == 1234567 ? row : "17,a" }' \
    >"$1.csv"
  gzip -1 -c "$1.csv" >"$1.csv.gz"
  rejects_file "$1.csv" "$1.csv:1234567" 'error[E0803]' "$3"
  rejects_file "$1.csv.gz" "$1.csv.gz:1234567" 'error[E0803]' "$3"
}
bad_row type 'x,b' 'column `id` of `p/2`: `x` is not a u32'
bad_row range '4294967296,b' 'column `id` of `p/2`: `4294967296` is not a u32'
bad_row few '3' '1 field, but `p/2` needs 2'
bad_row many '3,b,c' '3 fields, but `p/2` needs 2'
bad_row after '3,"b"c' 'text after the closing quote of a field'
bad_row open '3,"b' 'a quoted field does not end'

# The end is missing: more than a buffer's worth is there.
awk 'BEGIN { for (i = 1; i <= 500000; ++i) print i ",a" i % 7919 }' >good.csv
gzip -1 -c good.csv >good.gz
head -c 1000000 good.gz >short.gz
rejects_file short.gz 'error[E0801]: cannot read `short.gz`: the gzip data ends too early'
if command -v zstd >/dev/null; then
  zstd -q -c good.csv >good.zst
  head -c 300000 good.zst >short.zst
  rejects_file short.zst 'error[E0801]: cannot read `short.zst`: the zstd data ends too early'
else
  echo 'skipped: a long zstd file, without the zstd program'
fi

# Absent, unreadable, not what its name says.
rejects_file missing.csv 'error[E0801]: cannot read `missing.csv`: No such file or directory'
rejects_file missing.db 'error[E0801]: cannot read `missing.db`: No such file or directory'
rejects_file missing/p.csv.gz 'error[E0801]: cannot read `missing/p.csv.gz`: No such file'
mkdir folder
rejects_file folder 'error[E0801]: cannot read `folder`: '
echo 1,a >secret.csv
chmod 000 secret.csv
if [ -r secret.csv ]; then
  echo 'skipped: a file without permission, which root can read'
else
  rejects_file secret.csv 'error[E0801]: cannot read `secret.csv`: Permission denied'
fi
for file in text.db text.sqlite; do
  echo '1,a' >$file
  rejects_file $file "error[E0801]: cannot read \`$file\`: it is no SQLite database"
done
: >empty.db
rejects_file empty.db 'error[E0801]: cannot read `empty.db`: it is no SQLite database'
rejects_file good.csv:p 'error[E0801]: cannot read `good.csv`: it is no SQLite database'

# Good rows that a constraint forbids.
head -n 50000 good.csv >rows.csv
timeout $seconds "$xlog" run constraint.xlog --input p=rows.csv --output answers.csv >out 2>err
status=$?
[ $status -eq 1 ] || fail "a violated constraint: exit status $status, not 1"
expect_err 'error[E0901]'
expect_err 'constraint.xlog:1:32'
[ -z "$(ls | grep '^answers')" ] || fail "a violated constraint: left $(ls | grep '^answers')"
sed -i '3d' rows.csv
timeout $seconds "$xlog" run constraint.xlog --input p=rows.csv --output answers.csv >out 2>err ||
  fail "the run without the row that was forbidden"
[ "$(wc -l <answers.csv)" -eq 50000 ] || fail "$(wc -l <answers.csv) lines of answers"
finish
