# World views as a user sees them: counts, rows over all views, why and why-not, pictures, units, limits,
# and what docs/world_views.md shows.
. "$(dirname "$0")/lib.sh"

cat >doors.xlog <<'END'
d(1..3).
open(D) :- d(D), not know not open(D).
{ coin(X) : d(X) }.
lucky(X) :- coin(X), open(X).
?- open(D).
?- lucky(X).
END

# ---- counts and rows over all views, the same by every evaluator ----
expect_status 0 run doors.xlog --count
expect_exactly '8 world views with 8 worlds each'
expect_status 0 run doors.xlog --count --format json
expect_exactly '{"mode": "faeel", "world_view_count": "8", "world_count": "64", "least_world_count": "8", "most_world_count": "8", "diagnostics": []}'
expect_status 0 run doors.xlog --count --format csv
expect_exactly 'world_view_count,world_count,least_world_count,most_world_count
8,64,8,8'
echo 'a :- not know b. b :- not know a. { c } :- a.' >uneven.xlog
expect_status 0 run uneven.xlog --count
expect_exactly '2 world views with 1 to 2 worlds each, 3 in all'
echo 'p(1..3). ?- p(X).' >plain.xlog
expect_status 0 run plain.xlog --count
expect_exactly '1 world view with 1 world'
echo 'p :- not know p.' >none.xlog
expect_status 3 run none.xlog --count
expect_exactly '0 world views'
expect_err 'the program has no world view'
grep -q 'shown instead' err && fail "--count shows no well-founded part"
expect_status 3 run none.xlog
expect_err 'shown instead is the well-founded part'

# ---- the well-founded semantics has no world views to ask about ----
echo '#pragma semantics = well_founded p(1). ?- p(X).' >founded.xlog
for asked in --count '--worlds all' '--world-views 3' '--over-views all' '--find-views 1'; do
  # shellcheck disable=SC2086
  expect_status 2 run plain.xlog --semantics wfs $asked
  expect_err "${asked%% *}: there are no world views with \`--semantics wfs\`"
  # shellcheck disable=SC2086
  expect_status 1 run founded.xlog $asked
  expect_err "\`${asked%% *}\` asks about world views, and the well-founded semantics has none"
  # shellcheck disable=SC2086
  expect_status 0 run founded.xlog --semantics stable $asked
done

# ---- one order of views, whoever finds them ----
cat >ordered.xlog <<'END'
pred e(u32).
p(X) :- e(X), not know not p(X).
?- p(X).
e(0).
END
expect_status 0 run ordered.xlog --format csv -q
cp out wanted_order
expect_status 0 run ordered.xlog --format csv -q --engine reference
cmp -s out wanted_order || fail "the order of world views differs by evaluator"
for which in cautious credulous all; do
  expect_status 0 run doors.xlog --over-views $which
  cp out wanted_everywhere
  expect_status 0 run doors.xlog --over-views $which --engine reference
  cmp -s out wanted_everywhere || fail "--over-views $which differs by evaluator"
done
expect_exactly 'over 8 world views: rows that are possible in some of them

?- open(D).
D  known in  possible in
-  --------  -----------
1         4            4
2         4            4
3         4            4
3 rows

?- lucky(X).
X  known in  possible in
-  --------  -----------
1         0            4
2         0            4
3         0            4
3 rows'
expect_status 0 run doors.xlog --over-views cautious --format csv
expect_exactly 'D,known_in,possible_in

X,known_in,possible_in'
expect_status 0 run plain.xlog --over-views cautious --format csv
expect_exactly 'X,known_in,possible_in
1,1,1
2,1,1
3,1,1'
expect_status 0 run doors.xlog --over-views all --format ndjson
expect_out '{"query": "lucky(X)", "known_in": "0", "possible_in": "4", "values": {"X": 1}}'
expect_status 0 run doors.xlog --over-views credulous --format json
expect_out '"over_world_views": "credulous"'
expect_out '{"values": [2], "known_in": "4", "possible_in": "4"}'
expect_status 3 run none.xlog --over-views all
# Two hundred thousand parts with two views each.
echo 'n(1..200000). r(X) :- n(X), not know not r(X). ?- r(X), X < 3.' >many.xlog
expect_status 0 run many.xlog --count
expect_out 'about 9.98e60205 world views with 1 world each'
expect_status 0 run many.xlog --over-views credulous
expect_out '1  about 4.99e60205'
expect_status 2 run doors.xlog --count --over-views all
expect_status 2 run doors.xlog --count --worlds 2
expect_status 2 run doors.xlog --over-views all --find-views 2
expect_status 2 run doors.xlog --over-views some
expect_status 2 run doors.xlog --count --output a.db

# ---- why and why-not ----
expect_status 0 why 'open(2)' doors.xlog
expect_out 'open(2) is known in 4, possible in 4 (known included) and impossible in 4 of 8 world views.'
expect_status 0 why-not 'open(2)' doors.xlog
expect_out 'fails  not know not open(2): it is in no world'
expect_status 0 why 'lucky(1)' doors.xlog
expect_out 'a world with it     {coin(1), lucky(1)}'
expect_out 'd(1)  fact  [doors.xlog:1]'
expect_status 3 why 'lucky(7)' doors.xlog
expect_out 'fails  no row of coin(7)'
expect_status 3 why-not 'd(2)' doors.xlog
expect_status 0 why-not 'd(7)' doors.xlog
for format in text json dot; do
  expect_status 0 why 'lucky(X)' doors.xlog --limit 2 --format $format
  expect_status 0 why-not 'lucky(X)' doors.xlog --format $format
  [ -s out ] || fail "why-not --format $format says nothing"
  ! [ $format = dot ] || ! command -v dot >/dev/null || dot -Tsvg out >/dev/null || fail "Graphviz cannot read it"
done
# An atom that only a disjunction has which holds anyway.
echo 'i(1..20). a(X) :- i(X). a(X) ; b(X) :- i(X).' >satisfied.xlog
expect_status 3 why 'b(X)' satisfied.xlog
expect_out 'b(1) is impossible: in no world.'
expect_status 0 why-not 'b(X)' satisfied.xlog
expect_out 'fails  another atom of the head holds'
# Strong negation is no option.
echo '{ a }. -a :- not a. -b(1).' >negated.xlog
expect_status 0 why -a negated.xlog
expect_out '-a is possible: in some of 2 worlds.'
expect_status 0 why --format json '-b(X)' negated.xlog
expect_status 0 why -q -- -a negated.xlog
expect_out '-a is possible: in some of 2 worlds.'
expect_status 2 why -a
expect_err 'FILE is required'
expect_status 0 why -h
expect_status 3 why p none.xlog
expect_err 'warning[W0902]'
# A determined part below has its proof, from data too.
printf '1,2\n2,3\n' >edges.csv
cat >below.xlog <<'END'
pred edge(u32, u32).
reach(X, Y) :- edge(X, Y).
reach(X, Z) :- reach(X, Y), edge(Y, Z).
{ open(X) : reach(1, X) }.
goal(X) :- reach(1, X), possible open(X).
END
expect_status 0 why 'goal(3)' below.xlog --input edge=edges.csv
expect_out 'by reach(X, Z) :- reach(X, Y), edge(Y, Z).'
expect_out 'edge(2, 3)  input  [edges.csv]'
expect_out 'possible open(3)  in some world: {open(3)}'

# ---- pictures and units ----
for format in text json dot html; do
  expect_status 0 explain doors.xlog --stage worldviews --format $format
  [ -s out ] || fail "worldviews --format $format says nothing"
done
expect_out '<!doctype html>'
grep -q 'https\{0,1\}://' out && fail "the page asks the network for something"
expect_status 0 explain doors.xlog --stage worldviews
expect_out 'part 1: 2 world views; 3 equal parts, 2 ^ 3 = 8 world views'
expect_status 0 explain none.xlog --stage worldviews
expect_out 'part 1: no world view'
expect_status 0 explain many.xlog --stage worldviews --format html
[ "$(wc -c <out)" -lt 100000 ] || fail "the picture of many parts is large"
printf 'p("</script><b>"). { q(X) : p(X) }.\n' >markup.xlog
expect_status 0 explain markup.xlog --stage worldviews --format html
grep -q '</script><b>' out && fail "a symbol of the program ends the script of the page"
for format in text json dot; do
  expect_status 0 explain doors.xlog --stage units --format $format
done
expect_status 0 explain doors.xlog --stage units
expect_out '3 equal units: 3 atoms, 3 rules'
expect_out 'decided    2 guesses, 2 accepted'
expect_status 2 explain doors.xlog --stage units --format html
expect_status 0 explain below.xlog --stage worldviews --input edge=edges.csv
expect_out 'open(2)'
expect_status 4 explain doors.xlog --stage worldviews --max-candidates 0

# ---- limits end with what is settled ----
cat >hard.xlog <<'END'
f(1). { a }. b :- a. c :- know b.
n(1..6). g(X) :- n(X), not know not g(X).
:- not know w. 1 { e(X) : n(X) } 2. w :- e(X), g(X).
?- f(X). ?- b. ?- g(X).
END
expect_status 4 run hard.xlog --max-candidates 2
expect_out 'Not finished.'
expect_out '1  true'
expect_out '1  undefined'
expect_err 'error[E0702]'
expect_status 4 run hard.xlog --max-candidates 2 --format json
expect_out '"finished": false'
expect_out '"diagnostics": [{"code":"E0702"'
expect_status 4 run hard.xlog --max-candidates 2 --format csv
[ ! -s out ] || fail "rows of an unfinished run"
expect_status 4 run hard.xlog --max-candidates 2 --output rows.json
[ ! -e rows.json ] || fail "a file of an unfinished run"
expect_status 4 run hard.xlog --max-candidates 2 --count
[ ! -s out ] || fail "a heading of what is settled, where nothing is asked for"
# Listing worlds and views has limits too.
echo 'i(1..1000). { p(X) : i(X) }. ?- p(3).' >worlds.xlog
echo 'i(1..1000). p(X) :- i(X), not know not p(X). ?- p(3).' >views.xlog
for engine in auto reference; do
  [ $engine = auto ] || sed -i 's/1000/20/' worlds.xlog
  expect_status 4 run worlds.xlog --worlds all --timeout 0.5 --engine $engine
  expect_err 'error[E0702]: the time limit of 0.5 s is over'
  [ ! -s out ] || fail "worlds beyond a limit"
done
expect_status 4 run views.xlog --world-views all --timeout 1
expect_err 'error[E0702]: the time limit of 1 s is over, while world views and worlds were listed'
expect_err '`--world-views N` and `--worlds N` list fewer'
[ ! -s out ] || fail "views beyond a limit"
sed -i 's/20/1000/' worlds.xlog
expect_status 4 run worlds.xlog --worlds all --memory 100M
expect_err 'error[E0705]: the memory limit of 100 MiB was reached while world views and worlds were listed'
expect_status 4 run views.xlog --world-views all --memory 100M
expect_err 'while world views and worlds were listed'

# ---- what a newcomer may do wrong ----
printf '#pragma epistemic_mode = g91\n#pragma epistemic_mode = faeel\np.\n' >pragmas.xlog
expect_status 1 run pragmas.xlog
expect_err 'is set twice, to different values'
printf '{ q }. know p :- q.\n' >head.xlog
expect_status 1 run head.xlog
expect_err 'stands before an atom in a body'
printf '{ q }. { r }. p :- know (q, r).\n' >brackets.xlog
expect_status 1 run brackets.xlog
expect_err 'write `know both`'
printf '{ p(1) }. q(X) :- not know p(X).\n' >unsafe.xlog
expect_status 1 run unsafe.xlog
expect_err 'nothing binds `X`'
printf '{ p(0) }. p(X + 1) :- p(X).\n' >endless.xlog
expect_status 4 run endless.xlog --timeout 0.2
expect_err 'recursion that makes ever new values'
expect_status 3 run none.xlog
expect_err 'shows which part of it has none'

# ---- what the documentation and the examples show ----
cd "$here/../.." || exit 1
awk -v folder="$work" '
  /^```sh$/ { getline command; shown = 0; next }
  /^```shown$/ { n++; print command > (folder "/command." n); on = 1; printf "" > (folder "/shown." n); next }
  /^```$/ { on = 0 }
  on { print > (folder "/shown." n) }' docs/world_views.md
documented=0
for command in "$work"/command.*; do
  number=${command##*.}
  sed "s|^xlog|'$xlog'|" "$command" >"$work/run.sh"
  sh "$work/run.sh" >"$work/got" 2>/dev/null
  diff -u "$work/shown.$number" "$work/got" || fail "docs/world_views.md: $(cat "$command")"
  documented=$((documented + 1))
done
[ $documented -ge 8 ] || fail "docs/world_views.md has only $documented commands"
for program in examples/epistemic/*.xlog; do
  "$xlog" explain "$program" --stage worldviews --format html >"$work/page" 2>"$work/err" || fail "no picture of $program"
  grep -qF "](${program##*/})" examples/epistemic/README.md || fail "$program is not in its README"
done
cd "$work" || exit 1
finish
