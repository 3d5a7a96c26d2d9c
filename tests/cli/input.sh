# --input: data files.
. "$(dirname "$0")/lib.sh"

cat >reach.xlog <<'X'
pred edge(src: symbol, dst: symbol).
edge(z, a).
reach(X, Y) :- edge(X, Y).
reach(X, Y) :- reach(X, Z), edge(Z, Y).
?- reach(z, X).
X
printf 'dst,src\nb,a\n"c d",b\n' >edges.csv
printf 'a\tb\r\n' >edges.tsv
expect_status 0 run reach.xlog --input edge=edges.csv --format csv
expect_exactly 'X
a
b
c d'
expect_status 0 run reach.xlog --input edge=edges.tsv --input edge/2=edges.csv --format csv
expect_status 0 check reach.xlog

printf 'a,b\nc\n' >short.csv
expect_status 1 run reach.xlog --input edge=short.csv
expect_err 'short.csv:2'
expect_status 1 run reach.xlog --input edge=missing.csv
expect_err 'error[E0801]'
expect_status 1 run reach.xlog --input egde=edges.csv
expect_err 'error[E0804]'

# Undeclared: the rules give the types.
echo 'big(X) :- size(X, N), N > 10, X != none. ?- big(X).' >sizes.xlog
printf 'a,5\nb,50\n' >sizes.csv
expect_status 0 run sizes.xlog --input size=sizes.csv
printf 'a,5\nb,many\n' >bad.csv
expect_status 1 run sizes.xlog --input size=bad.csv
expect_err '`many` is not a'
expect_err 'bad.csv:2'
finish
