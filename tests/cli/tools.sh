# check, fmt, explain, version, completion.
. "$(dirname "$0")/lib.sh"

printf 'p(1).\nq(X):-p(X),not r(X).\nr(2).\n?- q(X).\n' >a.xlog
printf 'p(1\n' >broken.xlog

expect_status 0 check a.xlog
expect_out 'a.xlog: ok'
expect_status 1 check a.xlog broken.xlog
expect_err 'broken.xlog'
expect_status 1 check broken.xlog --diagnostics json
expect_out '[{"code":"E01'
expect_status 0 check a.xlog --diagnostics json
expect_exactly '[]'

expect_status 0 fmt a.xlog
expect_out 'q(X) :- p(X), not r(X).'
expect_status 1 fmt --check a.xlog
expect_exactly 'a.xlog'
expect_status 0 fmt -w a.xlog
expect_status 0 fmt --check a.xlog
expect_status 0 fmt -w a.xlog
[ ! -s out ] || fail "nothing changed, nothing to say"
cp broken.xlog before
expect_status 1 fmt -w broken.xlog
cmp -s broken.xlog before || fail "a file with errors was changed"
"$xlog" fmt - <a.xlog >out 2>err || fail "fmt from standard input"
cmp -s out a.xlog || fail "formatting twice changes something"

for stage in ast types components eir; do
  for format in text json dot; do
    expect_status 0 explain a.xlog --stage $stage --format $format
    [ -s out ] || fail "explain --stage $stage --format $format is empty"
    [ $format != dot ] || expect_out 'digraph'
  done
done
expect_status 0 explain a.xlog --stage plan
expect_status 2 explain a.xlog --stage plan --format json

# The plan is the one for the rows that the input has, and for the program that runs.
cat >join.xlog <<'X'
pred a(u32, u32). pred b(u32, u32).
c(X, Z) :- a(X, Y), b(Y, Z).
#const n = 1.
d(n).
?- c(X, Y).
X
awk 'BEGIN { for (i = 0; i < 300; ++i) print i "," i % 10 }' >many.csv
printf '1,2\n3,4\n' >few.csv
expect_status 0 explain join.xlog --stage plan
expect_out 'a/2, no rows yet, taken for 1000000 rows'
expect_status 0 explain join.xlog --stage plan --input a=many.csv --input b=few.csv
expect_out 'a/2, 300 rows'
expect_out 'scan    b(Y, Z)  // about 2 rows'
expect_out 'lookup  a(X, =Y)  // about 30.0 rows each'
expect_out 'c/2, about 60 rows'
expect_status 0 explain join.xlog --stage plan --input a=few.csv --input b=many.csv -D n=7
expect_out 'scan    a(X, Y)  // about 2 rows'
expect_out 'lookup  b(=Y, Z)  // about 1.0 rows each'
printf '1,2\n3\n' >bad.csv
expect_status 1 explain join.xlog --stage plan --input a=bad.csv
expect_err 'bad.csv:2'
expect_status 1 explain join.xlog --stage plan --input nosuch=few.csv
expect_status 2 explain join.xlog --stage eir --input a=few.csv
expect_err 'only the stages `plan`, `units` and `worldviews`'
expect_status 1 explain broken.xlog
expect_status 0 explain e0412
expect_out 'E0412 (error)'
expect_status 2 explain E0499
expect_err 'did you mean'
for topic in codes pragmas builtins types; do
  expect_status 0 explain $topic
  expect_status 0 explain $topic --format json
done
expect_status 1 explain nosuchfile.xlog

expect_status 0 version
expect_out 'xlog '
expect_status 0 version --json
expect_out '"version"'

for shell in bash zsh fish; do
  expect_status 0 completion $shell
  expect_out 'epistemic-mode'
  expect_out 'ndjson'
  expect_out 'no-progress'
  expect_out 'memory'
  expect_out 'completion'
  ! command -v $shell >/dev/null || $shell -n out || fail "the $shell script has errors"
done
expect_status 0 completion bash
expect_out ' --stats=json '
expect_status 0 completion zsh
expect_out "'*--stats=-["
expect_status 0 completion fish
expect_out " -l stats -a 'json'"
finish
