# Every output format, from the same program.
. "$(dirname "$0")/lib.sh"

cat >p.xlog <<'X'
person(alice). person(bob).
{ guess(1) }.
safe(alice).
safe(bob) :- guess(1).
?- safe(P).
?- guess(1).
X

expect_status 0 run p.xlog
expect_exactly '1 world view with 2 worlds

?- safe(P).
P      status
-----  --------
alice  known
bob    possible
2 rows

?- guess(1).
possible'

expect_status 0 run p.xlog --format csv
expect_exactly 'P,status
alice,known
bob,possible

answer
possible'

expect_status 0 run p.xlog --format ndjson
expect_out '{"query": "safe(P)", "world_view": 1, "status": "possible", "values": {"P": "bob"}}'

expect_status 0 run p.xlog --format json --worlds all
tr -d '\n ' <out >flat
grep -qF '{"mode":"faeel","world_view_count":"1","world_views":[{"world_count":"2","queries":[{"query":"safe(P)","columns":["P"],"rows":[{"values":["alice"],"status":"known"},{"values":["bob"],"status":"possible"}]},' flat ||
  fail "json: $(cat flat)"
grep -qF '"worlds":[["guess(1)","person(alice)","person(bob)","safe(alice)","safe(bob)"],["person(alice)","person(bob)","safe(alice)"]]' flat ||
  grep -qF '"worlds":[["person(alice)","person(bob)","safe(alice)"],["guess(1)","person(alice)","person(bob)","safe(alice)","safe(bob)"]]' flat ||
  fail "worlds: $(cat flat)"
grep -qF '"diagnostics":[]}' flat || fail "diagnostics: $(cat flat)"

# Standard input, and errors as JSON on both sides.
echo 'p(1). ?- p(X).' >q.xlog
"$xlog" run - --format tsv <q.xlog >out 2>err || fail "standard input"
expect_exactly 'X
1'
echo 'p(X) :- q(Y).' >bad.xlog
expect_status 1 run bad.xlog --format json --diagnostics json
expect_out '{"diagnostics": [{"code":"E0601"'
expect_err '[{"code":"E0601"'

# One file a query.
expect_status 0 run p.xlog --output-dir results/new
expect_out 'wrote results/new/query_1.csv'
[ "$(cat results/new/query_1.csv)" = 'P,status
alice,known
bob,possible' ] || fail "query_1.csv"
expect_status 0 run p.xlog --output-dir results --format json
[ -f results/query_2.json ] || fail "query_2.json"
[ "$(ls results | wc -l)" -eq 3 ] || fail "files left behind: $(ls results)"
expect_status 1 run p.xlog --output-dir p.xlog
expect_err 'error[E0802]'

# Well-founded semantics.
echo 'a :- not b. b :- not a. c. ?- a. ?- c.' >w.xlog
expect_status 0 run w.xlog --semantics wfs
expect_exactly '?- a.
undefined

?- c.
true'
expect_status 0 run w.xlog --world-views 1 --format json
expect_out '"world_view_count": "1"'

# Several world views.
echo 'a :- not know b. b :- not know a. ?- a.' >v.xlog
expect_status 0 run v.xlog
expect_out 'world view 1 of 2 (1 world)'
expect_status 0 run v.xlog --format csv
expect_exactly 'world_view,answer
1,true
2,false'
expect_status 0 run v.xlog --world-views 1
expect_err 'note[W0904]'
expect_status 0 run v.xlog --world-views 1 --quiet
expect_no_err

# Modes and constants from the command line.
echo '#const n = 2.
p :- possible p. q(n). ?- p. ?- q(X).' >m.xlog
expect_status 0 run m.xlog --epistemic-mode g91 --format json
expect_out '"world_view_count": "2"'
expect_out '"mode": "g91"'
expect_status 0 run m.xlog -D n=7
expect_out '7'
expect_status 0 run m.xlog --stats
expect_err 'evaluate'
# A file is not put in the place of what a process has open: what it holds stays.
echo before >joined
"$xlog" run p.xlog --output /dev/stdout >>joined 2>err
[ $? -eq 1 ] || fail 'standard output as a file'
expect_err 'it is an open file of a process'
[ "$(cat joined)" = before ] || fail 'what was written before is lost'
finish
