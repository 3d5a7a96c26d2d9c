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

# Facts come and go in a session over what was typed, and stay so for what is asked later.
script 'edge(1, 2). edge(2, 3).\nreach(X, Y) :- edge(X, Y).\nreach(X, Y) :- reach(X, Z), edge(Z, Y).\n?- reach(1, X).\n:session -edge(2, 3). +edge(2, 4). commit. changes.\n?- reach(2, X).\n:list\n'
[ $status -eq 0 ] || fail "a session: $(cat err)"
expect_exactly '?- reach(1, X).
X
-
2
3
2 rows
commit 1: 1 fact inserted, 1 retracted
?- reach(1, X).
   X
   -
-  3
+  4
1 row came, 1 row went
?- reach(2, X).
X
-
4
1 row
edge(1, 2).
edge(2, 3).
reach(X, Y) :- edge(X, Y).
reach(X, Y) :- reach(X, Z), edge(Z, Y).
// Since then:
// -edge(2, 3).
// +edge(2, 4).'

# The session is the same one until the program changes; then its facts are carried over.
script 'p(1..3). p(1).\n:session\n-p(1). commit.\n+p(7). commit.\nquit.\n:session -p(1). commit. log.\nq(X) :- p(X).\n:session undo 1. commit. log. answer.\n?- q(X).\n'
[ $status -eq 0 ] || fail "two sessions: $(cat err)"
expect_out 'commit 3: 1 fact retracted'
expect_out 'commit 2 (undo of 1): 2 facts inserted, 1 retracted'
expect_out '3 rows'

# What follows on its line is not done.
script 'p(1).\n:session -p(2). commit. -p(1). commit.\n:session +p(3). -p(x, y). commit. answer.\n?- p(X).\n'
expect_exactly '?- p(X).
X
-
1
1 row'
[ "$(grep -c 'note: what follows on this line was not done' err)" -eq 2 ] || fail "not said: $(cat err)"
# What goes wrong in a session is said, and the session goes on.
script 'p(1).\n:session\n-p(2). commit.\nrollback.\n-p(1). commit.\nanser.\n+p(9).\nquit.\n?- p(X).\n'
[ $status -eq 1 ] || fail "exit status $status after an error in a session"
expect_err '`p(2)` is not there'
expect_err 'did you mean `answer.`?'
expect_err 'what was not committed is forgotten'
expect_out 'commit 1: 1 fact retracted'
expect_out "0 rows"
script 'p(1).\n:session\n-p(1)\n'
[ $status -eq 1 ] || fail "an unfinished command is an error"
script 'p(1).\n:session -p(1). commit.\n:reset\np(1).\n?- p(X).\n'
expect_out '1 row'

# What was inserted follows the types of what is typed later.
script 'p(1).\n:session +p(5). commit.\np(-2.5).\n?- p(X).\n'
[ $status -eq 0 ] || fail "another type: $(cat err)"
expect_out '3 rows'
expect_out '5.0'
script 'p(1).\n:session +p(-5). commit.\n'
[ $status -eq 1 ] || fail "a value that does not fit: exit status $status"
expect_err 'does not fit column 1'

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
