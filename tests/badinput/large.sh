# Long lines and many of something.
. "$(dirname "$0")/lib.sh"

# 10 MB on one line: an error in the middle is shown with a part of the line.
{ repeat 'p(a, b, c). ' 450000; printf 'p(a b). '; repeat 'p(a, b, c). ' 450000; echo; } >line.xlog
rejects line.xlog
[ "$(wc -c <err)" -lt 2000 ] || fail "the whole line was shown"
{ repeat 'x' 10000000; echo; } >word.xlog
rejects word.xlog
{ printf 'p("'; repeat 'x' 10000000; echo; } >string.xlog
rejects string.xlog
{ repeat '(' 10000000; echo; } >open.xlog
rejects open.xlog
{ repeat '@' 1000000; echo; } >signs.xlog
rejects signs.xlog
{ printf 'p(1'; repeat '0' 1000000; echo ').'; } >digits.xlog
rejects digits.xlog

# Wide but not deep is fine, or an error; never a crash.
{ printf 'p('; repeat 'a, ' 100000; echo 'a).'; } >wide_atom.xlog
survives wide_atom.xlog
{ printf 'p(['; repeat 'a, ' 200000; echo 'a]).'; } >wide_list.xlog
survives wide_list.xlog
{ printf 'q(1). p :- '; repeat 'q(1), ' 20000; echo 'q(1).'; } >wide_body.xlog
survives wide_body.xlog
{ awk 'BEGIN { for (i = 0; i < 200000; i++) printf "p(%d x).\n", i }'; } >errors.xlog
rejects errors.xlog
grep -q 'more errors' err || grep -q 'stopped' err || fail "the errors that are not shown are not counted"
finish
