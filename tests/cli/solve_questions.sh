# xlog solve: what can be asked of formulas, weighted formulas, programs and jobs, and the engines.
. "$(dirname "$0")/lib.sh"

printf 'p cnf 3 3\n1 2 0\n-1 3 0\n-2 -3 0\n' >sat.cnf
printf 'p cnf 2 4\n1 2 0\n1 -2 0\n-1 2 0\n-1 -2 0\n' >unsat.cnf
printf 'p cnf 4 2\n1 0\n-1 -2 0\n' >partly.cnf
# {a; b}. :- not a, not b. c :- a. fact.
printf 'asp 1 0 0\n1 1 2 1 2 0 0\n1 0 0 0 2 -1 -2\n1 0 1 3 0 1 1\n4 1 a 1 1\n4 1 b 1 2\n4 1 c 1 3\n4 4 fact 0\n0\n' >program.lp

# random_formula SEED VARIABLES CLAUSES
random_formula() {
  awk -v seed="$1" -v n="$2" -v m="$3" 'BEGIN {
    srand(seed); print "p cnf", n, m
    for (i = 0; i < m; ++i) {
      for (j = 0; j < 3; ++j) printf "%d ", (rand() < 0.5 ? -1 : 1) * (1 + int(rand() * n))
      print 0
    }
  }'
}

# ---- formulas ----

expect_status 30 solve sat.cnf --models 0 -q
sort out >sorted
printf 's SATISFIABLE\nv -1 2 -3 0\nv 1 -2 3 0\n' | cmp -s - sorted || fail "all models of sat.cnf"
expect_status 10 solve sat.cnf --models 1 -q
expect_status 30 solve sat.cnf --models 5
expect_out 'c models 2'
expect_status 10 solve partly.cnf --models 2
expect_out 'c models 2+'
expect_status 20 solve unsat.cnf --models 0 -q
expect_exactly 's UNSATISFIABLE'
expect_status 30 solve partly.cnf --count -q
expect_exactly 'n 4
s SATISFIABLE'
expect_status 20 solve unsat.cnf --count -q
expect_exactly 'n 0
s UNSATISFIABLE'
expect_status 30 solve partly.cnf --cautious -q
expect_exactly 'v 1 -2 0
s SATISFIABLE'
expect_status 30 solve partly.cnf --brave -q
expect_exactly 'v 1 -2 3 -3 4 -4 0
s SATISFIABLE'
expect_status 20 solve unsat.cnf --brave -q
expect_status 10 solve sat.cnf --core --assume 2 -q
expect_exactly 's SATISFIABLE
v -1 2 -3 0'
expect_status 20 solve sat.cnf --core --assume 2 --assume 3 -q
expect_exactly 's UNSATISFIABLE
f 2 3 0'
expect_status 20 solve sat.cnf --assume 1 --assume -1 -q --core
expect_exactly 's UNSATISFIABLE
f 1 -1 0'
expect_status 20 solve unsat.cnf --core -q
expect_exactly 's UNSATISFIABLE
f 0'
# A proof under assumptions is one of the formula with them.
expect_status 20 solve sat.cnf --assume 2 --assume 3 --proof p.drat --check-proof
expect_status 20 solve sat.cnf --assume 2 --assume 3 --verify p.drat
expect_status 1 solve sat.cnf --verify p.drat

# Few of many variables: assumptions, cores and consequences speak of the file's numbers.
printf 'p cnf 2000000000 2\n2000000000 -5 0\n-2000000000 7 0\n' >sparse.cnf
expect_status 20 solve sparse.cnf --core --assume 5 --assume -7 -q
expect_exactly 's UNSATISFIABLE
f 5 -7 0'
expect_status 30 solve sparse.cnf --cautious --assume 5 -q
expect_exactly 'v 5 7 2000000000 0
s SATISFIABLE'
expect_status 30 solve sparse.cnf --models 0
expect_out 'c models 4'
expect_status 1 solve sparse.cnf --count
expect_err 'doubles the number of models'

# Engines agree.
for seed in 1 2 3 4; do
  random_formula $seed 24 $((60 + 12 * seed)) >random.cnf
  run solve random.cnf --count --engine batch -q
  cp out first
  run solve random.cnf --count --engine search -q
  cmp -s first out || fail "seed $seed: batch and search count differently"
  run solve random.cnf --no-model -q
  cp out first
  for engine in batch portfolio; do
    run solve random.cnf --no-model -q --engine $engine
    cmp -s first out || fail "seed $seed: $engine answers differently"
  done
  run solve random.cnf --brave -q
  cp out first
  run solve random.cnf --brave -q --engine portfolio --threads 3
  cmp -s first out || fail "seed $seed: brave consequences differ"
done
random_formula 5 400 1400 >random.cnf
expect_status 10 solve random.cnf --engine local-search
expect_status 10 solve random.cnf --engine local-search --device interp
expect_status 10 solve random.cnf --threads 3
expect_status 0 solve unsat.cnf --engine local-search --conflicts 1000
expect_out 'local search finds models, and not that there is none'
expect_status 0 solve unsat.cnf --engine local-search --timeout 0.1

# ---- weighted formulas ----

printf 'h 1 2 0\nh -1 -2 0\n3 -1 0\n5 -2 0\n' >weighted.wcnf
expect_status 30 solve weighted.wcnf -q --assume 2
expect_exactly 'o 5
s OPTIMUM FOUND
v 01'
expect_status 20 solve weighted.wcnf -q --assume 1 --assume 2
expect_exactly 's UNSATISFIABLE'

# At a limit the best so far, with what is known of the optimum.
awk 'BEGIN {
  n = 13; m = 12
  for (p = 0; p < n; ++p) { printf "h"; for (h = 1; h <= m; ++h) printf " %d", p * m + h; print " 0" }
  for (h = 1; h <= m; ++h) for (p = 0; p < n; ++p) for (q = 0; q < p; ++q)
    print 1 + (p + q) % 7, -(p * m + h), -(q * m + h), 0
}' >hard.wcnf
expect_status 10 solve hard.wcnf --timeout 0.5
expect_out '(--timeout)'
expect_out 'no model costs less than'
expect_out 's SATISFIABLE'
[ "$(grep -c '^v [01]*$' out)" -eq 1 ] || fail "no best model at the end of the time"
expect_status 10 solve hard.wcnf --conflicts 2000
expect_out '(--conflicts)'

# ---- programs ----

expect_status 30 solve program.lp --models 0
expect_out 'c 3 atoms, 3 rules'
expect_out 'c models 3'
expect_status 30 solve program.lp --count -q
expect_exactly 'n 3
s SATISFIABLE'
expect_status 30 solve program.lp --cautious -q
expect_exactly 'v fact
s SATISFIABLE'
expect_status 30 solve program.lp --brave -q
expect_exactly 'v a b c fact
s SATISFIABLE'
expect_status 20 solve program.lp --core --assume 'not a' --assume 'not b' -q
expect_out 'f not a'
expect_out 'f not b'
expect_status 20 solve program.lp --assume a --assume 'not a' -q
expect_exactly 's UNSATISFIABLE'
expect_status 30 solve program.lp --models 0 --no-model -q
expect_exactly 's SATISFIABLE'
if command -v gringo >/dev/null; then
  echo '1 { p(1..3) } 2. q :- p(1). #minimize { 1,X : p(X) }. #show q/0.' >choice.lp
  gringo choice.lp | "$xlog" solve --format lp - --project --models 0 -q >out
  [ $? -eq 30 ] || fail "gringo | xlog solve"
  grep -q 's OPTIMUM FOUND' out || fail "the best of what gringo printed"
  gringo choice.lp | "$xlog" solve - --count --project -q >out
  expect_exactly 'n 2
s SATISFIABLE'
  expect_status 1 solve choice.lp
  expect_err 'ground it first: gringo choice.lp | xlog solve --format lp -'
fi

# ---- jobs ----

# round_trip FILE OPTIONS...: the printed job is answered as the file is, and prints itself.
round_trip() {
  file=$1
  shift
  run solve "$file" "$@" -q
  cp out first
  first=$status
  expect_status 0 solve "$file" "$@" --print-sir
  cp out job.sir
  run solve job.sir -q
  [ "$status" -eq "$first" ] || fail "$file $*: exit status $status of the job, not $first"
  cmp -s first out || fail "$file $*: the job is answered differently"
  expect_status 0 solve job.sir --print-sir
  cmp -s job.sir out || fail "$file $*: the job does not print itself"
}
round_trip sat.cnf
round_trip sat.cnf --models 0 --timeout 100 --memory 8G --conflicts 100000
round_trip sat.cnf --core --assume 2 --assume 3
round_trip partly.cnf --cautious
round_trip partly.cnf --brave --assume -3
round_trip partly.cnf --count
round_trip weighted.wcnf --assume 2
round_trip program.lp
round_trip program.lp --models 0 --assume 'not b'
round_trip program.lp --core --assume 'not b' --assume 'not a'
round_trip program.lp --core --assume 'not fact'
round_trip program.lp --count --project
expect_status 0 solve unsat.cnf --check-proof --print-sir
cp out proof.sir
expect_out 'return proof'
expect_status 20 solve proof.sir -q
grep '^p ' out | sed 's/^p //' >printed.drat
expect_status 20 solve unsat.cnf --verify printed.drat
expect_status 20 solve proof.sir --proof written.drat --check-proof -q
expect_exactly 's UNSATISFIABLE'
expect_status 20 solve unsat.cnf --verify written.drat
# Limits of the job, and those of the command line before them.
sed -n '1!p' hard.wcnf | awk 'BEGIN { print "sir 1 maxsat\nlimit conflicts 500" }
  { $NF = ""; sub(/^h/, "hard") || sub(/^/, "soft "); print }' >hard.sir
expect_status 10 solve hard.sir
expect_out '(limit conflicts)'
expect_status 10 solve hard.sir --conflicts 600
expect_out '(--conflicts)'
expect_status 30 solve sat.cnf --count --assume 1 -q
printf 'sir 1 sat\nclause 1 2\nreturn model\n' >job.sir
expect_status 30 solve job.sir --count -q
expect_exactly 'n 3
s SATISFIABLE'
"$xlog" solve - --count -q <job.sir >out 2>err
[ $? -eq 30 ] || fail "a job from standard input"

# ---- options that do not belong together ----

expect_status 1 solve weighted.wcnf --count
expect_err 'a weighted formula is not asked for `count`'
for option in --count --cautious --brave --core '--models 2'; do
  expect_status 1 solve weighted.wcnf $option
done
expect_status 1 solve weighted.wcnf --proof p.drat
expect_err 'there are no proofs about a weighted formula'
expect_status 1 solve program.lp --verify p.drat
expect_status 1 solve program.lp --engine cadical
expect_err 'the engine cadical cannot solve a ground program'
expect_err 'use --engine search'
expect_status 1 solve program.lp --threads 2
expect_status 1 solve sat.cnf --project
expect_err '--project is for programs'
expect_status 1 solve sat.cnf --count --engine cadical
expect_err 'use --engine search or batch'
expect_status 1 solve random.cnf --count --engine batch
expect_err 'takes 64 variables at most, and the formula has 400'
expect_status 1 solve sat.cnf --engine cadical --device cpu
expect_err 'uses no device'
expect_status 1 solve sat.cnf --engine portfolio --device interp
expect_status 1 solve sat.cnf --engine batch --conflicts 5
expect_status 2 solve sat.cnf --engine batch --device nosuch
expect_status 1 solve sat.cnf --count --check-proof
expect_status 2 solve sat.cnf --count --brave
expect_status 2 solve sat.cnf --models -1
expect_status 2 solve sat.cnf --assume
expect_status 2 solve sat.cnf --engine batch --threads 2
finish
