# xlog session and xlog replay, by pipe, by file and on a terminal.
. "$(dirname "$0")/lib.sh"
export HOME="$work"

cat >reach.xlog <<'P'
pred edge(from: u32, to: u32).
edge(1, 2). edge(2, 3).
reach(X, Y) :- edge(X, Y).
reach(X, Z) :- reach(X, Y), edge(Y, Z).
?- reach(1, X).
?- reach(1, 9).
P

# session TEXT OPTIONS...: feeds the text to `xlog session reach.xlog`.
session() {
  text=$1
  shift
  printf '%s\n' "$text" | "$xlog" session reach.xlog "$@" >out 2>err
  status=$?
}
expect_exit() { [ "$status" -eq "$1" ] || fail "exit status $status, not $1: $(cat err)"; }

session '+edge(3, 9). +edge(3, 9). pending. commit.
commit. changes. changes reach/2.
-edge(3, 9). commit. changes.
-edge(3, 9). commit. changes. difference 0 2. answer at 2.
log. undo 3. rollback. quit. not read'
expect_exit 0
expect_no_err
expect_exactly '+edge(3, 9).  // 2 times
commit 1: 2 facts inserted
nothing to commit
?- reach(1, X).
   X
   -
+  9
1 row came

?- reach(1, 9).
now true
?- reach(1, X).
   X
   -
+  9
1 row came

?- reach(1, 9).
now true
commit 2: 1 fact retracted
?- reach(1, X).
no changes

?- reach(1, 9).
no changes
commit 3: 1 fact retracted
?- reach(1, X).
   X
   -
-  9
1 row went

?- reach(1, 9).
now false
?- reach(1, X).
   X
   -
+  9
1 row came

?- reach(1, 9).
now true
?- reach(1, X).
X
-
2
3
9
3 rows

?- reach(1, 9).
true
commit 1: 2 facts inserted
commit 2: 1 fact retracted
commit 3: 1 fact retracted
commit 4 (undo of 3): 1 fact inserted'

# What a commit cost.
session '+edge(3, 9). commit. cost.'
expect_exit 0
expect_out 'rule instances looked at'
session '+edge(3, 9). commit. cost.' --format json
expect_out '"evaluated_afresh":[]'
session 'cost.'
expect_exit 1
expect_err 'no commit was made'

# Errors have places; the first ends a script, unless it shall go on.
cat >wrong.txt <<'C'
+edge(1, 5).

commit. +edge(1,
  x).
log.
C
run session reach.xlog wrong.txt
expect_exit 1
expect_exactly 'commit 1: 1 fact inserted'
expect_err 'error[E0301]: `x` does not fit column 2 of `edge/2`, which is u32 (reach.xlog:1)'
expect_err '--> wrong.txt:3:10'
run session reach.xlog wrong.txt --keep-going
expect_exit 1
expect_out 'commit 1: 1 fact inserted
commit 1: 1 fact inserted'
session '+egde(1, 2). +edge(1). +other(1). +reach(5, 6). +p(X) :- q(X). chnges. changes reach from 1. undo 5. undo. load edge. load edge "none.csv". answer at 3. checkpoint. changes edge. changes. ?- reach(1, X). difference 1. commit. log' --keep-going
expect_exit 1
for part in 'did you mean `edge`?' 'the program has `edge/2`' 'declare it in the program: `pred other(types).`' 'only facts come and go' \
  'there is no command `chnges`' 'did you mean `changes.`?' 'write `changes [PRED].`' 'there is no commit 5' 'write `undo N.`' 'write `load PRED "FILE" [weight K].`' 'cannot read `none.csv`' \
  'there is no commit 3' 'this session keeps no state' 'add `?- edge(X1, X2).` to the program' 'nothing was committed yet' 'queries belong to the program' \
  'write `difference N M [PRED].`' 'a command that does not end' '--> <stdin>:1'; do
  expect_err "$part"
done
expect_exactly 'commit 1: 1 fact inserted'
session '+edge(8, 9).'
expect_exit 0
expect_err 'facts were pending and are forgotten'
session 'undo 5.' --diagnostics json
expect_err '[{"severity":"error","message":"there is no commit 5","file":"<stdin>","line":1,"help":"nothing was committed yet"}]'
expect_status 2 session
expect_status 2 session - </dev/null
expect_status 1 session missing.xlog
expect_status 1 session reach.xlog missing.txt
echo 'p(X) :- q(Y).' >broken.xlog
expect_status 1 session broken.xlog
expect_err 'error['

# Statuses, world views, constraints, limits.
cat >worlds.xlog <<'P'
pred open(symbol).
{ open(a) }.
?- open(X).
P
printf '+open(a). +open(b). commit. changes. -open(a). commit. changes.\n' | "$xlog" session worlds.xlog >out 2>err
expect_exactly 'commit 1: 2 facts inserted
?- open(X).
   X  status
   -  -----------------
~  a  possible -> known
+  b  known
1 row came, 1 row changed status
commit 2: 1 fact retracted
?- open(X).
   X  status
   -  -----------------
~  a  known -> possible
1 row changed status'
printf '+open(a). commit. changes.\n' | "$xlog" session worlds.xlog --format csv -q >out 2>err
expect_exactly 'X,__weight,before,after
a,0,possible,known'
printf 'pred p(u32). :- p(1), not q. q :- not q, p(2). r. ?- r.\n' >none.xlog
printf '+p(2). commit. answer.\n' | "$xlog" session none.xlog >out 2>err
[ $? -eq 3 ] || fail "no world view should be exit status 3"
printf ':- p(3). pred p(u32). ?- p(X).\n' >constraint.xlog
printf '+p(3). commit. answer.\n' | "$xlog" session constraint.xlog >out 2>err
[ $? -eq 1 ] || fail "a violated constraint should be exit status 1"
expect_err 'error[E0901]'
printf -- '+p(3). commit. answer. -p(3). commit. answer.\n' | "$xlog" session constraint.xlog --keep-going >out 2>err
expect_out '0 rows'
printf 'pred s(u32). n(X) :- s(X). n(X + 1) :- n(X). ?- n(5).\n' >long.xlog
printf '+s(0). commit. answer.\n' | "$xlog" session long.xlog --max-rows 1000 >out 2>err
[ $? -eq 4 ] || fail "a limit should be exit status 4"

printf '+p(3). commit. changes.\n' | "$xlog" session constraint.xlog >out 2>err
[ $? -eq 1 ] || fail "changes to a violated constraint should be exit status 1"
expect_exactly 'commit 1: 1 fact inserted'
expect_err 'error[E0901]'
expect_err 'so it is after commit 1, which has no rows to compare'
printf -- '+p(3). commit. -p(3). +p(4). commit.\n' | "$xlog" session constraint.xlog --state violated >out 2>err
expect_status 0 replay violated constraint.xlog --format csv
expect_exactly 'X


X
4'
expect_err 'note: commit 1 has no answer:'
expect_err 'error[E0901]'
expect_status 0 replay violated constraint.xlog --format ndjson
expect_out '{"diagnostics": [{"code":"E0901"'
grep -qv '^{.*}$' out && fail "a line that is no JSON: $(cat out)"
expect_status 0 replay violated constraint.xlog --format json
expect_out '{"diagnostics": [{"code":"E0901"'
grep -q '^a constraint' out && fail "text among JSON"

# Numbers past 64 bits are those of no commit; what is misspelt is an error.
session '+edge(3, 9). commit. answer at 18446744073709551617. difference 18446744073709551616 1. undo 18446744073709551618. checkpoint "x\q".' --keep-going
expect_exit 1
expect_exactly 'commit 1: 1 fact inserted'
for n in 7 6 8; do expect_err "there is no commit 1844674407370955161$n"; done
expect_err '`\q` is not an escape'
[ ! -e x ] && [ ! -e xq ] || fail 'a checkpoint under a misspelt name'

# What is no fact, no folder, no file of commands.
session '+#const n = 3. commit.'
expect_exit 1
expect_err 'error[E0210]: only facts come and go'
session 'log.' --state ''
expect_exit 2
expect_err '--state: a name is missing'
session 'log.' --checkpoint ''
expect_exit 2
expect_status 1 session reach.xlog .
expect_err 'cannot read `.`: Is a directory'
run session reach.xlog <.
[ "$status" -eq 1 ] || fail "a folder as standard input should be exit status 1"
expect_err 'cannot read `<stdin>`: Is a directory'
session 'checkpoint "start". +edge(3, 4). commit.' --state begun
session 'log.' --state begun --checkpoint start
expect_exit 0
expect_err 'note: --checkpoint counts for the first start alone'
if [ -c /dev/full ]; then
  printf '+edge(3, 4). commit. answer. log.\n' | "$xlog" session reach.xlog >/dev/full 2>err
  [ $? -eq 1 ] || fail "a full standard output should be exit status 1"
  [ "$(grep -c 'cannot write to standard output' err)" -eq 1 ] || fail "said more than once: $(cat err)"
fi

# Weights add up to more than 64 bits.
printf '6,7,9223372036854775807\n6,8,9223372036854775807\n6,9,9223372036854775807\n' >heavy.csv
session 'load edge "heavy.csv" weight 3. commit. log. undo 1.'
expect_exactly 'commit 1: 27670116110564327421 facts inserted
commit 1: 27670116110564327421 facts inserted
commit 2 (undo of 1): 27670116110564327421 facts retracted'
session 'load edge "heavy.csv" weight 3. commit. log.' --format json
expect_exactly '{"commit": 1, "inserted": 27670116110564327421, "retracted": 0}
[{"commit": 1, "inserted": 27670116110564327421, "retracted": 0}]'

# Many facts on one line take no longer than on lines of their own: a look back at each would take
# minutes.
seq 300000 | sed 's/.*/+edge(&, 0)./' | tr '\n' ' ' >line.txt
echo 'commit. +edge(a, 1).' >>line.txt
timeout 60 "$xlog" session reach.xlog line.txt >out 2>err
[ $? -eq 1 ] || fail "a long line: $(cut -c 1-200 err)"
expect_exactly 'commit 1: 300000 facts inserted'
expect_err "--> line.txt:1:$(($(wc -c <line.txt) - 11))"

# Other forms.
session '+edge(3, 4). pending. commit. answer. undo 1. log. checkpoint "facts".' --format json
expect_exit 0
expect_out '{"pending":[{"fact":"edge(3, 4)","weight":1}]}'
expect_out '{"commit": 1, "inserted": 1, "retracted": 0}'
expect_out '[{"commit": 1, "inserted": 1, "retracted": 0},'
expect_out ' {"commit": 2, "inserted": 0, "retracted": 1, "undo_of": 1}]'
expect_out '{"checkpoint":"facts"}'
session 'answer.' --checkpoint facts --format csv
expect_out '3'
session '+edge(3, 4). commit. changes.' --recompute --device interp --format tsv
expect_out 'X	__weight'
expect_out '4	1'

# A folder: started again, on another program, by two at once, torn, damaged.
session '+edge(3, 4). commit. answer. checkpoint. +edge(4, 5). commit. answer.' --state s
expect_exit 0
session 'log. answer at 1.' --state s
expect_out 'commit 2: 1 fact inserted'
expect_out '3 rows'
"$xlog" replay s reach.xlog --device interp --verify >interp 2>err || fail "replay: $(cat err)"
expect_err '2 recorded answers compared, 0 differ'
"$xlog" replay s/log reach.xlog --device cpu --verify >cpu 2>err || fail "replay: $(cat err)"
cmp interp cpu || fail "the answers of a replay differ between devices"
"$xlog" replay s reach.xlog --engine reference --recompute --format json >out 2>err || fail "replay: $(cat err)"
expect_out '"world_view_count": "1"'
expect_out '{"commit": 2}'
sed 's/reach(Y, Z)/edge(Y, Z)/; s/edge(X, Y)\./edge(Y, X)./' reach.xlog >other.xlog
echo 'answer.' | "$xlog" session other.xlog --state s >out 2>err
[ $? -eq 1 ] || fail "another program should be refused"
expect_err 'belongs to another program'
expect_err '--accept-program'
expect_status 1 replay s other.xlog
expect_err 'was made under another program'
expect_status 1 replay s other.xlog --verify --accept-program
expect_err 'the answer is not the one that was recorded'
echo 'log.' | "$xlog" session other.xlog --state s --accept-program >out 2>err || fail "accepted: $(cat err)"
mkfifo hold
"$xlog" session reach.xlog --state s <hold >held 2>&1 &
exec 3>hold
echo 'log.' >&3
i=0
until grep -q 'commit 2' held || [ $i -ge 1000 ]; do
  i=$((i + 1))
  sleep 0.01
done
session 'log.' --state s
expect_exit 1
expect_err 'another process works on the state folder `s`'
exec 3>&-
wait
cp -r s torn
printf 'garbage' >>torn/log
session '+edge(5, 6). commit.' --state torn
expect_exit 0
expect_exactly 'commit 3: 1 fact inserted'
expect_err 'note: `torn/log` ended in 7 bytes that are no whole record: the last commit was never acknowledged, or is damaged; they are cut off and kept in `torn/log-torn-1`'
[ "$(cat torn/log-torn-1)" = garbage ] || fail 'what was cut off is not kept'
session 'log.' --state torn
expect_no_err
cp -r s damaged
rm damaged/checkpoint-1
printf 'X' | dd of=damaged/log bs=1 seek=200 conv=notrunc 2>/dev/null
session 'log.' --state damaged
expect_exit 1
expect_err '`damaged/log` is damaged at byte '
expect_err 'truncate -s '
echo 'not a log' >text
expect_status 1 replay text reach.xlog
expect_err 'is no log of a session'
expect_status 1 replay missing reach.xlog

# A full disk: the commit is refused, and what was there stays.
cp -r s full
for i in 1 2 3 4 5 6 7 8 9; do echo "+edge($i, 10). +edge($i, 11). +edge($i, 12). commit."; done >many.txt
(ulimit -f 2 && exec "$xlog" session reach.xlog many.txt --state full) >out 2>err
[ $? -eq 1 ] || fail "a log that cannot grow should be exit status 1"
expect_err 'cannot write `full/log`: File too large'
expect_err 'nothing was changed'
kept=$(tail -n 1 out)
session 'log.' --state full
expect_exit 0
expect_out "$kept"

# A session that is ended in the middle of a commit leaves the folder as it was.
printf 'n(1..1000). p(A, B, C) :- e(X), n(A), n(B), n(C). q(X) :- p(X, Y, Z), e(X). pred e(u32). ?- q(X).\n' >huge.xlog
printf '+e(1). commit.\n' | "$xlog" session huge.xlog --state ended --device interp --memory 8G >out 2>err &
pid=$!
i=0
until [ -s ended/log ] || [ $i -ge 1000 ]; do
  i=$((i + 1))
  sleep 0.01
done
sleep 0.3
kill -TERM $pid
wait $pid 2>/dev/null
echo 'log.' | "$xlog" session huge.xlog --state ended >out 2>err || fail "after the end: $(cat err)"
expect_exactly 'no commits yet'

# A terminal has a prompt and says how long a commit took.
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
  (
    sleep 0.3
    printf '+edge(3, 4).\r'
    sleep 0.3
    printf 'commit.\r'
    sleep 0.3
    printf '\004'
  ) | TERM=xterm script -qfec "$xlog session reach.xlog" seen >/dev/null 2>&1
  grep -aq 'xlog> ' seen || fail "no prompt on a terminal"
  grep -aqE 'commit 1: 1 fact inserted \([0-9.]+ (us|ms|s)\)' seen || { fail "no commit on a terminal"; cat -v seen; }
  # What maps over rows in which worlds differ is evaluated again, and that is said.
  printf 'pred e(u32). { c(X) } :- e(X). l([1]). n(L) :- l(L), maplist(c, L). ?- n(L).\n' >open.xlog
  (
    sleep 0.3
    printf '+e(1). commit.\r'
    sleep 0.3
    printf '\004'
  ) | TERM=xterm script -qfec "$xlog session open.xlog" seen >/dev/null 2>&1
  grep -aq 'evaluated afresh: c/1' seen || { fail "no reason on a terminal"; cat -v seen; }
  # What folds over them follows.
  printf 'pred e(u32). { c(X) } :- e(X). n(N) :- N = count : { c(X) }. ?- n(N).\n' >open.xlog
  (
    sleep 0.3
    printf '+e(1). commit. +e(2). commit.\r'
    sleep 0.3
    printf '\004'
  ) | TERM=xterm script -qfec "$xlog session open.xlog" seen >/dev/null 2>&1
  grep -aq 'commit 2: 1 fact inserted' seen || { fail "no commit of a fold"; cat -v seen; }
  grep -aq 'evaluated afresh' seen && { fail "a fold is evaluated afresh"; cat -v seen; }
else
  echo 'skipped: a terminal, where script(1) does not work'
fi
# A checkpoint replaces a checkpoint, and nothing else: not the log, not the lock, no program.
session '+edge(3, 4). commit. checkpoint "own/log". checkpoint "own/lock". checkpoint "reach.xlog". checkpoint "facts". checkpoint "facts".
+edge(4, 5). commit.' --state own --keep-going
expect_exit 1
expect_err '`own/log` is there already, and it is no checkpoint'
expect_err '`own/lock` is there already, and it is no checkpoint'
expect_err '`reach.xlog` is there already, and it is no checkpoint'
session 'log.' --state own --format csv
expect_exit 0
expect_exactly 'commit,inserted,retracted,undo_of
1,1,0,
2,1,0,'

# NDJSON: one value a line, whatever is shown.
session '+edge(3, 4). +edge(4, 5). commit. changes. difference 0 1. +edge(5, 6). commit. log. answer.' --format ndjson
expect_exit 0
while read -r line; do
  case $line in '{'*'}') ;; *) fail "no object on a line of its own: $line" ;; esac
done <out
expect_out '{"commit": 2, "inserted": 1, "retracted": 0}'
expect_out '{"from": 0, "to": 1, "queries": [{"query": "reach(1, X)", "columns": ["X"], "rows": [{"values": [4], '

# JSON says of each answer that there is none, as `xlog run` does.
cat >violated.xlog <<'P'
pred edge(u32, u32).
:- edge(9, 9).
?- edge(1, X).
P
printf '+edge(9, 9). commit. answer.' | "$xlog" session violated.xlog --format json --keep-going >out 2>err
expect_out '{"diagnostics": [{"code":"E0901"'

# The limit of memory ends a commit with the exit code of a limit.
cat >grows.xlog <<'P'
pred n(u32). pred stop(u32).
m(X) :- n(X).
m(Y) :- m(X), Y = X + 1, not stop(X).
?- N = count : { m(X) }.
P
printf '+n(1). commit.' | "$xlog" session grows.xlog --memory 100M >out 2>err
status=$?
expect_exit 4
expect_err 'the memory limit of 100 MiB was reached'

finish
