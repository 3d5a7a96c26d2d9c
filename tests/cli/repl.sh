# The REPL, by pipe.
. "$(dirname "$0")/lib.sh"
export HOME="$work"

# script TEXT: feeds the lines to the REPL.
script() {
  printf "$1" | "$xlog" repl >out 2>err
  status=$?
}

script 'edge(1, 2). edge(2, 3).\nreach(X, Y) :- edge(X, Y).\nreach(X, Y) :-\n  reach(X, Z),\n  edge(Z, Y).\n?- reach(1, X).\n'
[ $status -eq 0 ] || fail "exit status $status"
expect_exactly '?- reach(1, X).
X
-
2
3
2 rows'

# A statement with an error is not kept.
script 'p(1).\np(X) :- q(Y).\n?- p(X).\n'
[ $status -eq 1 ] || fail "exit status $status after an error"
expect_err 'error[E0601]'
expect_out '1 row'
script 'p(1).\np(a).\np(2).\n:list\n'
[ "$(cat out)" = 'p(1).
p(2).' ] || fail "list: $(cat out)"

echo 'q(1). q(2). ?- q(X).' >q.xlog
script ':load q.xlog\n:schema\n:explain components\n:mode g91\n:mode\n:help\n:reset\n:list\n:quit\nnot reached\n'
[ $status -eq 0 ] || fail "commands: $(cat err)"
expect_out '2 rows'
expect_out 'q.xlog: 2 statements added'
expect_out 'g91'
script ':mod g91\n'
expect_err 'did you mean `:mode`?'
script 'p(1)\n'
[ $status -eq 1 ] || fail "an unfinished statement is an error"
script '#pragma epistemic_mode = g91\np :- possible p.\n?- p.\n'
expect_out 'world view 1 of 2'
"$xlog" repl q.xlog </dev/null >out 2>err || fail "a file to start with"
expect_out '2 rows'

# Many facts at once are quick.
i=0
while [ $i -lt 3000 ]; do
  echo "fact($i)."
  i=$((i + 1))
done >many
echo '?- fact(2999).' >>many
"$xlog" repl <many >out 2>err || fail "many facts"
expect_out 'true'
finish
