# Files that are no programs.
. "$(dirname "$0")/lib.sh"

: >empty.xlog
for command in run check fmt 'explain --stage components'; do
  timeout $seconds "$xlog" $command empty.xlog >out 2>err || fail "xlog $command on an empty file"
done
mkdir folder.xlog
rejects folder.xlog
rejects missing.xlog
rejects folder.xlog/below.xlog

head -c 100000 /dev/urandom >random.xlog
rejects random.xlog
head -c 1000000 /dev/zero >zeros.xlog
rejects zeros.xlog
rejects "$xlog"   # a binary

printf 'p("\377\376").\n' >utf8.xlog
rejects utf8.xlog
printf 'p(a). \303\050 q.\n' >utf8_outside.xlog
rejects utf8_outside.xlog
printf 'p(\033[2Ja).\n' >escape.xlog
rejects escape.xlog
printf '\357\273\277p(1).\n?- p(X).\n' >bom.xlog
survives bom.xlog
printf 'p(1).\r\nq(X) :- p(X).\r\n?- q(X).\r\n' >crlf.xlog
timeout $seconds "$xlog" run crlf.xlog >out 2>err || fail "line ends of another system"
finish
