# why: proofs, why not, forms, errors; the proofs in docs/language.md.
. "$(dirname "$0")/lib.sh"

cat >a.xlog <<'END'
pred edge(u32, u32).
edge(1, 2).
reach(X,Y):-edge(X,Y).
reach(X, Z) :- reach(X, Y), edge(Y, Z).
{ pick(X) : edge(X, _) }.
far(X) :- reach(1, X), not edge(1, X).
?- reach(1, X).
END
printf '2,3\n3,4\n' >edges.csv

expect_status 0 why 'reach(1, 4)' a.xlog --input edge=edges.csv
expect_exactly 'reach(1, 4)
  by reach(X, Z) :- reach(X, Y), edge(Y, Z).  [a.xlog:4]
    reach(1, 3)
      by reach(X, Z) :- reach(X, Y), edge(Y, Z).  [a.xlog:4]
        reach(1, 2)
          by reach(X, Y) :- edge(X, Y).  [a.xlog:3]
            edge(1, 2)  fact  [a.xlog:2]
        edge(2, 3)  input  [edges.csv]
    edge(3, 4)  input  [edges.csv]'
expect_no_err
cp out wanted_everywhere
for engine in '--engine reference' '--device interp' '--device cpu'; do
  # shellcheck disable=SC2086
  expect_status 0 why 'reach(1, 4)' a.xlog --input edge=edges.csv $engine
  cmp -s out wanted_everywhere || fail "another proof with $engine"
done
"$xlog" why 'far(3)' - --input edge=edges.csv <a.xlog >out 2>err || fail "from standard input"
expect_out 'not edge(1, 3)  no such row'

expect_status 0 why 'reach(1, X)' a.xlog --input edge=edges.csv --limit 2
expect_out '2 of 3 rows that fit'
expect_status 3 why 'reach(4, 1)' a.xlog --input edge=edges.csv
expect_out 'reach(4, 1) does not hold.'
expect_out 'fails  no row of edge(4, 1)'
for format in text dot json; do
  expect_status 0 why 'reach(1, 2)' a.xlog --format $format
  expect_status 3 why 'reach(2, 1)' a.xlog --format $format
  [ -s out ] || fail "why --format $format says nothing"
done
expect_status 0 why 'reach(1, 2)' a.xlog --format dot
expect_out 'digraph proof {'
! command -v dot >/dev/null || dot -Tsvg out >/dev/null || fail "Graphviz cannot read it"
expect_status 0 why 'reach(1, 2)' a.xlog --format json
expect_out '"kind": "derived"'

expect_status 0 why 'pick(1)' a.xlog
expect_out 'pick(1) is possible: in some of 2 worlds.'
expect_status 1 why 'pick(1)' a.xlog --engine reference
expect_err 'leave out `--engine reference`'
expect_status 1 why 'pick(1)' a.xlog --semantics wfs
expect_err 'error[E0701]'
expect_err 'choice'
expect_status 1 why 'raech(1, 2)' a.xlog --format json
expect_out '{"diagnostics": [{"code":"E0214"'
expect_status 1 why 'raech(1, 2)' a.xlog
expect_err 'error[E0214]'
expect_err 'did you mean `reach`?'
expect_status 1 why 'reach(1)' a.xlog
expect_err '`reach/2`'
expect_status 1 why 'reach(a, 1)' a.xlog
expect_err 'error[E0301]'
expect_status 1 why 'reach(-1, 1)' a.xlog
expect_err 'error[E0302]'
expect_status 1 why 'reach(1, 2), reach(2, 3)' a.xlog
expect_err 'error[E0210]'
expect_status 1 why 'reach(1, 2' a.xlog
expect_status 1 why 'reach(1, 2)' missing.xlog
expect_err 'error[E0801]'
expect_status 2 why 'reach(1, 2)' a.xlog --device nosuch
expect_err 'there is no device `nosuch`'
expect_status 2 why 'reach(1, 2)'
expect_status 2 why '' a.xlog
expect_status 2 why 'reach(1, 2)' a.xlog --format xml
expect_status 2 why 'reach(1, 2)' a.xlog --limit 0
echo 'n(0). n(X + 1) :- n(X), X < 1000.' >n.xlog
expect_status 4 why 'n(1000)' n.xlog --max-rows 100
expect_err 'of `n/1`'
expect_err 'error[E0702]'

# The limits of a run hold for the evaluation, for rows that are fetched, and for the search.
cat >pairs.xlog <<'END'
n(0..1500).
far(X, Y) :- n(X), n(Y).
last(X) :- far(X, 3), far(3, X).
END
for engine in '--engine reference' '--device cpu'; do
  # shellcheck disable=SC2086
  expect_status 4 why 'last(7)' pairs.xlog --memory 20M $engine
  expect_err 'error[E0705]: the memory limit of 20 MiB was reached'
  expect_err 'raise it with `--memory SIZE`'
  # shellcheck disable=SC2086
  expect_status 4 why-not 'last(7)' pairs.xlog --memory 20M $engine
  # shellcheck disable=SC2086
  expect_status 4 why 'last(7)' pairs.xlog --max-rows 1000 $engine
  expect_err 'error[E0702]'
  # shellcheck disable=SC2086
  expect_status 4 why 'last(7)' pairs.xlog --timeout 0.001 $engine
  expect_err 'error[E0702]'
done
# Bits hold the rows in less than a MiB, but a search looks at them one by one.
expect_status 0 why 'last(7)' pairs.xlog --memory 1G --device cpu

# Joins that the engine keeps for itself are no part of a proof.
cat >kept.xlog <<'END'
pred n(u32). n(0..4000).
pred load(u32, u32). load(X, X) :- n(X), X < 20. load(5, 40).
pred next(u32, u32). next(40, 7). next(7, 9).
points_to(X, X) :- n(X).
points_to(X, Y) :- next(X, Y).
points_to(Y, W) :- load(Y, X), points_to(X, Z), points_to(Z, W).
END
expect_status 0 explain kept.xlog --stage plan
expect_out 'kept: __xlog_joined'
expect_status 0 why 'points_to(5, 9)' kept.xlog
expect_out 'by points_to(Y, W) :- load(Y, X), points_to(X, Z), points_to(Z, W).'

# What the documentation shows.
cd "$here/../.." || exit 1
for goal in 'reach(lisbon, warsaw)' 'reach(oslo, paris)'; do
  "$xlog" why "$goal" examples/reachability.xlog
done >"$work/shown" 2>&1
sed -n '/^```proof$/,/^```$/p' docs/language.md | grep -v '^```' >"$work/documented"
diff -u "$work/documented" "$work/shown" || fail "docs/language.md shows another proof"
cd "$work" || exit 1
finish
