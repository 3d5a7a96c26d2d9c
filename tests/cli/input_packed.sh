# --input: gzip and zstd files, by their contents; large files; what is wrong with a file.
. "$(dirname "$0")/lib.sh"

cat >p.xlog <<'X'
pred edge(src: u32, dst: u32).
?- edge(X, Y).
X
rows='X,Y
1,2
3,4'
printf '1,2\n' >a.csv
printf '3,4\n' >b.csv
gzip -c a.csv >a.gz
gzip -c b.csv >b.gz
cat a.gz b.gz >both.csv # two members, and a name that says nothing
expect_status 0 run p.xlog --input edge=both.csv --format csv
expect_exactly "$rows"
"$xlog" run p.xlog --input edge=- --format csv <both.csv >out 2>err || fail "packed standard input"
expect_exactly "$rows"

# A zstd frame of `1,2\n3,4\n`, stored as it is.
printf '\050\265\057\375\040\010\101\000\0001,2\n3,4\n' >edges.csv.zst
expect_status 0 run p.xlog --input edge=edges.csv.zst --format csv
expect_exactly "$rows"

# Incomplete and damaged files: the file's name, and no row.
head -c $(($(wc -c <both.csv) - 3)) both.csv >short.gz
expect_status 1 run p.xlog --input edge=short.gz --format csv
expect_err 'cannot read `short.gz`: the gzip data ends too early'
[ ! -s out ] || fail "rows of an incomplete file: $(cat out)"
head -c 12 edges.csv.zst >short.zst
expect_status 1 run p.xlog --input edge=short.zst
expect_err 'cannot read `short.zst`: the zstd data ends too early'
{ cat both.csv; echo rubbish; } >rubbish.gz
expect_status 1 run p.xlog --input edge=rubbish.gz
expect_err 'something else behind the gzip data'
printf '\3757zXZ\000rest' >edges.xz
expect_status 1 run p.xlog --input edge=edges.xz
expect_err 'packed with xz'

# A bad row far behind, in a packed file too.
cat >count.xlog <<'X'
pred edge(src: u32, dst: u32).
?- edge(0, 0).
X
awk 'BEGIN { for (i = 1; i <= 1300000; ++i) print (i == 1234567 ? "x,1" : "17,18") }' >late.csv
expect_status 1 run count.xlog --input edge=late.csv
expect_err 'late.csv:1234567'
expect_err 'column `src` of `edge/2`: `x` is not a u32'
gzip -1 late.csv
expect_status 1 run count.xlog --input edge=late.csv.gz
expect_err 'late.csv.gz:1234567'

# Headers: in another order, with more columns, without one.
printf 'dst,weight,src\n2,0.5,1\n4,0.5,3\n' >header.csv
expect_status 0 run p.xlog --input edge=header.csv --format csv
expect_exactly "$rows"
printf 'from,to\n1,2\n' >other.csv
expect_status 1 run p.xlog --input edge=other.csv
expect_err '`edge/2` has the columns: src, dst'
expect_err 'the file has the columns: from, to'
finish
