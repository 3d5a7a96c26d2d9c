# Limits of time and memory hold inside one step too, which nobody could look at in between.
. "$(dirname "$0")/lib.sh"

# Two rows drive a join of millions of millions.
cat >join.xlog <<'P'
a(1..2). b(1..20000).
c(count(X)) :- a(A), b(X), b(Y), b(Z), X * Y + Z * A = 7.
?- c(N).
P
# A list that doubles: a few rows, and all of the memory.
cat >list.xlog <<'P'
pred l(list<u32>).
l([1]).
l(B) :- l(A), append(A, A, B).
k(N) :- l(R), length(R, N).
?- k(N).
P

# expect_soon ARGS...: ends at a limit, long before it would be done.
expect_soon() {
  timeout 60 "$xlog" "$@" >out 2>err
  status=$?
  [ $status -eq 4 ] || fail "xlog $*: exit status $status, not 4"
}

for device in cpu interp; do
  expect_soon run join.xlog --timeout 0.3 --device $device
  expect_err 'error[E0702]: not finished after 0.3 seconds'
  expect_err 'raise it with `--timeout SECONDS`'
done
expect_soon run join.xlog --timeout 0.3 --format json --output answer.json
[ ! -e answer.json ] || fail 'half an answer was left'
expect_soon run join.xlog --timeout 0.3 --format json
expect_out '{"diagnostics": [{"code":"E0702"'
expect_soon why 'c(3)' join.xlog --timeout 0.3
expect_err 'error[E0702]: not finished after 0.3 seconds'

for engine in auto reference; do
  expect_soon run list.xlog --engine $engine --memory 100M
  expect_err 'error[E0705]: the memory limit of 100 MiB was reached'
  expect_err 'raise it with `--memory SIZE`'
done

# What the facts need counts with them, before they are in their relation. (Address sanitizers keep
# freed memory, so the watchdog comes first.)
echo 'n(1..3000000). c(count(X)) :- n(X). ?- c(N).' >facts.xlog
expect_status 4 run facts.xlog --memory 14M
[ -n "${XLOG_SANITIZE:-}" ] || expect_err 'the largest relation is `n/1`: 3000000 rows'
finish
