# --stats, --trace, --profile, --memory and what a run leaves behind when memory runs out.
. "$(dirname "$0")/lib.sh"

cat >reach.xlog <<'X'
edge(1, 2). edge(2, 3). edge(3, 1).
reach(X, Y) :- edge(X, Y).
reach(X, Z) :- reach(X, Y), edge(Y, Z).
?- reach(1, X).
X
cat >pairs.xlog <<'X'
n(1..1500).
pair(X, Y) :- n(X), n(Y), X != Y + 5000.
?- pair(1, 2).
#pragma magic_sets = off
X

# The table, and JSON on one line after everything else.
expect_status 0 run --stats reach.xlog
expect_err 'largest relations'
expect_err 'reach/2'
expect_err '(new reach(X, Y))'
expect_status 0 run reach.xlog --stats=json
expect_err '{"exit_code":0,'
[ "$(wc -l <err)" -eq 1 ] || fail "JSON statistics are one line"
expect_status 2 run reach.xlog --stats=xml
expect_err '--stats=json'

# How worlds were found; and that nobody looked for them.
cat >plans.xlog <<'X'
package(1..5).
1 { bomb(P) : package(P) } 1.
dunk(P, T) :- package(P), package(T), not know not dunk(P, T).
:- dunk(P, T), dunk(Q, T), P < Q.
safe :- bomb(P), dunk(P, T).
:- not know safe.
?- dunk(P, T).
X
expect_status 0 run plans.xlog --trace
expect_err 'estimate '
expect_err 'ground '
expect_err '1 units, 1 clusters'
expect_err '120 accepted'
expect_status 0 run plans.xlog --trace=json -q
expect_err '{"searched":true,"steps":[{"step":"estimate","milliseconds":'
expect_err 'rows: too few for it"},{"step":"ground","milliseconds":'
expect_err '"accepted":120,'
[ "$(wc -l <err)" -eq 1 ] || fail "a trace in JSON is one line"
expect_status 0 run reach.xlog --trace
expect_err 'no worlds were searched for'
expect_status 2 run plans.xlog --trace=xml
expect_err '--trace=json'

# Where there are many rows, the engine says first which are certain and which are open.
cat >many.xlog <<'X'
n(1..200).
{ q(X) } :- n(X), X < 3.
r(X, Y) :- n(X), n(Y), not q(X).
?- r(X, Y), not know r(X, Y).
X
expect_status 0 run many.xlog --count --trace --stats
expect_err '2 components, 39600 certain rows, 402 open rows'
expect_err '402 rules, 402 atoms'
expect_err 'component 1 differs between worlds, bounded on the device: choice in rule at 2:1'

# Where most of what a walk would find is certain, the engine finds the instances that are not.
cat >roads.xlog <<'X'
n(1..150).
e(X, Y) :- n(X), n(Y).
{ e(150, 151) }.
r(X, Y) :- e(X, Y).
r(X, Z) :- r(X, Y), e(Y, Z).
?- r(X, Y), not know r(X, Y).
X
expect_status 0 run roads.xlog --count --trace
expect_err 'instances '
expect_err ', 152 rules from instances, 0 rules from walks'
expect_status 0 run roads.xlog --count --trace=json -q
expect_err '{"step":"instances","milliseconds":'
expect_err ',"rules_left_to_ground":'

# One plan is enough.
expect_status 0 run plans.xlog --find-views 1 --trace
expect_out 'world view 1 of at least 1 (5 worlds)'
expect_err 'note[W0904]: the search ended with 1 world view as asked; there may be more'
expect_err ' 1 accepted'
expect_status 0 run plans.xlog --find-views 1 --format json
expect_out '"all_world_views_found": false'
expect_status 2 run plans.xlog --find-views 0

# A long search ends at the time limit, and says what it did.
cat >long.xlog <<'X'
n(1..14).
dunk(P, T) :- n(P), n(T), not know not dunk(P, T).
1 { bomb(P) : n(P) } 1.
safe :- bomb(P), dunk(P, T).
:- not know safe.
?- dunk(P, T).
X
expect_status 4 run long.xlog --timeout 0.5 --trace
expect_err 'error[E0702]: not finished after 0.5 seconds'
expect_err 'raise it with `--timeout SECONDS`'
expect_err 'solve '

# A profile appears complete, also of a run that reached a limit, or not at all.
expect_status 0 run reach.xlog --profile trace.json
grep -q '"ph":"X"' trace.json || fail "no events in the profile"
[ "$(tail -n 1 trace.json)" = ']}' ] || fail "the profile has no end"
expect_status 4 run pairs.xlog --max-rows 1000 --profile limit.json
[ "$(tail -n 1 limit.json)" = ']}' ] || fail "a run that ends early has a profile too"
expect_status 1 run reach.xlog --profile missing/trace.json
expect_err 'error[E0802]: cannot write `missing/trace.json`'
[ ! -s out ] || fail "a profile that cannot be written is known before the run"
mkdir folder
expect_status 1 run reach.xlog --profile folder
expect_err 'it is a folder'
[ "$(ls | grep -c 'json\.')" -eq 0 ] || fail "temporary files stay"

# No progress where nobody looks.
expect_status 0 run pairs.xlog --device interp --no-progress
expect_no_err

# Sizes.
for size in '' 0 abc 12x 5MM -3 1e6; do
  expect_status 2 run reach.xlog --memory "$size"
  expect_err 'not a size such as 500M'
done
expect_status 2 run reach.xlog --max-rows 0
expect_err 'must be positive'
expect_status 0 run reach.xlog --memory 2G
expect_status 0 run reach.xlog --memory 2000000000

# Too little: the rule, the relation, the limit and the way out; no file.
case ${XLOG_SANITIZE:-} in
'')
  for engine in auto reference; do
    expect_status 4 run pairs.xlog --engine $engine --memory 20M --output answers.csv
    expect_err 'error[E0705]: the memory limit of 20 MiB was reached'
    expect_err 'pairs.xlog:2:1'
    expect_err 'the largest relation is `pair/2`'
    expect_err 'raise it with `--memory SIZE`'
    [ ! -e answers.csv ] || fail "an output file of a run that failed"
  done
  expect_status 0 run pairs.xlog --memory 1G --output answers.csv
  [ -s answers.csv ] || fail "enough memory, but no answer"

  # In the middle of a recursion, on each device.
  cat >closure.xlog <<'X'
n(0..1999).
edge(X, (X + 1) % 2000) :- n(X).
edge(X, (X * 7 + 3) % 2000) :- n(X).
reach(X, Y, 1) :- edge(X, Y).
reach(X, Z, 1) :- reach(X, Y, 1), edge(Y, Z).
?- reach(0, 1, N).
X
  for device in cpu interp; do
    expect_status 4 run closure.xlog --device $device --memory 30M --output-dir answers
    expect_err 'error[E0705]: the memory limit of 30 MiB was reached'
    expect_err 'closure.xlog:5:1'
    expect_err 'the largest relation is `reach/3`'
    [ ! -e answers ] || fail "a folder for the answers of a run that failed"
  done

  awk 'BEGIN { for (i = 0; i < 1000000; ++i) print i "," i * 7 }' >edges.csv
  echo 'pred edge(u64, u64). ?- edge(3, X).' >edges.xlog
  expect_status 4 run edges.xlog --input edge=edges.csv --memory 10M
  expect_err 'error[E0705]: the memory limit of 10 MiB was reached while rows of `edge/2` were'
  expect_status 0 run edges.xlog --input edge=edges.csv --memory 1G

  # Where the system itself has no more.
  (ulimit -v 200000 && "$xlog" run pairs.xlog --engine reference >out 2>err)
  [ $? -eq 4 ] || fail "no memory should be exit status 4"
  expect_err 'error[E0705]: no memory was left while this rule was evaluated'
  expect_err 'the largest relation is `pair/2`'
  ;;
esac
finish
