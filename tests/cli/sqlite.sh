# SQLite in and out: --input relation=file.db[:table], --output file.db.
. "$(dirname "$0")/lib.sh"

cat >edges.xlog <<'X'
pred edge(src: symbol, dst: symbol, w: f64).
edge(a, b, 0.5). edge("b c", "d\"e", 2.0).
?- edge(Src, Dst, W).
?- edge(a, b, W), W > 1.0.
?- edge(a, b, _).
X

# One file, one table a query; it reads back.
expect_status 0 run edges.xlog --output out.db
expect_exactly 'wrote out.db'
cat >back.xlog <<'X'
pred edge(src: symbol, dst: symbol, w: f64).
?- edge(S, D, W).
X
rows='S,D,W
a,b,0.5
b c,"d""e",2.0'
expect_status 0 run back.xlog --input edge=out.db:query_1 --format csv
expect_exactly "$rows"
expect_status 0 run back.xlog --input 'edge=out.db:SELECT src, dst, w FROM query_1 WHERE w < 1' --format csv
expect_exactly 'S,D,W
a,b,0.5'
cat >truth.xlog <<'X'
pred t(answer: symbol).
?- t(X).
X
expect_status 0 run truth.xlog --input t=out.db:query_3 --format csv
expect_exactly 'X
true'

# The table is named as the relation, unless said otherwise.
cat >named.xlog <<'X'
pred query_1(src: symbol, dst: symbol).
?- query_1(S, D).
X
expect_status 0 run named.xlog --input query_1=out.db --format csv
expect_exactly 'S,D
a,b
b c,"d""e"'
expect_status 1 run back.xlog --input edge=out.db
expect_err 'no table or view `edge`; it has: query_1, query_2, query_3'

# What does not fit.
cat >numbers.xlog <<'X'
pred edge(src: u32, dst: symbol).
?- edge(S, D).
X
expect_status 1 run numbers.xlog --input edge=out.db:query_1
expect_err 'column `src` of `edge/2`: the text `a` is not a u32'
expect_err 'out.db:query_1:1'
expect_status 1 run numbers.xlog --input 'edge=out.db:SELECT 7 AS src, NULL AS dst'
expect_err 'NULL is not a symbol'
expect_status 1 run numbers.xlog --input 'edge=out.db:SELECT 4294967296, 1.5'
expect_err 'the integer 4294967296 is not a u32'
expect_err 'the real 1.5 is not a symbol'
expect_status 1 run numbers.xlog --input edge=missing.db:t
expect_err 'cannot read `missing.db`: No such file or directory'
expect_status 1 run numbers.xlog --input 'edge=out.db:WITH x AS (SELECT 1) DELETE FROM query_1'
expect_err 'does not select rows'
gzip -c out.db >packed.db
expect_status 1 run numbers.xlog --input edge=packed.db
head -c 5000 out.db >half.db
expect_status 1 run back.xlog --input edge=half.db:query_1
expect_err 'error[E0801]'

# An answer replaces an answer, and nothing else.
expect_status 0 run edges.xlog --output out.db
cp out.db mine.db
expect_status 0 run edges.xlog --output mine.db --quiet
[ ! -s out ] || fail "--quiet: $(cat out)"
[ "$(ls | grep -c '^mine.db')" -eq 1 ] || fail "files left: $(ls)"
printf x >mine.db-wal
expect_status 1 run edges.xlog --output mine.db
expect_err 'another program is using it'

# Other formats by the ending, or by --format.
expect_status 0 run back.xlog --input edge=out.db:query_1 --output rows.csv
[ "$(cat rows.csv)" = "$rows" ] || fail "rows.csv: $(cat rows.csv)"
expect_status 0 run back.xlog --input edge=out.db:query_1 --output rows.txt
grep -q '2 rows' rows.txt || fail "rows.txt: $(cat rows.txt)"
expect_status 0 run back.xlog --input edge=out.db:query_1 --output rows.txt --format json
grep -q '"columns"' rows.txt || fail "rows.txt as JSON"
expect_status 0 run edges.xlog --output-dir results --format sqlite
[ "$(ls results | tr '\n' ' ')" = 'query_1.db query_2.db query_3.db ' ] || fail "$(ls results)"
expect_status 2 run edges.xlog --format sqlite
expect_err 'add --output FILE'
expect_status 2 run edges.xlog --output a.csv --output-dir b

# Nothing partial: a folder that is missing, a limit on the size of files.
expect_status 1 run edges.xlog --output no/such/out.db
expect_err 'error[E0802]'
cat >many.xlog <<'X'
p(1..40000).
?- p(X).
X
mkdir small
for name in a.db a.csv; do
  (ulimit -f 16; exec "$xlog" run many.xlog --output small/$name) >out 2>err
  [ $? -eq 1 ] || fail "$name: a file past the limit"
  expect_err 'error[E0802]'
done
[ -z "$(ls small)" ] || fail "files left: $(ls small)"
finish
