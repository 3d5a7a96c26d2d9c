# xlog solve: the output and exit codes of solver competitions, limits, proofs, bad input.
. "$(dirname "$0")/lib.sh"

printf 'c two models\np cnf 3 3\n1 2 0\n-1 3 0\n-2 -3 0\n' >sat.cnf
printf 'p cnf 2 4\n1 2 0\n1 -2 0\n-1 2 0\n-1 -2 0\n' >unsat.cnf

# pigeons N: N into one hole less.
pigeons() {
  awk -v n="$1" 'function at(p, h) { return p * (n - 1) + h + 1 }
    BEGIN {
      m = n - 1
      print "p cnf", n * m, n + m * n * m / 2
      for (p = 0; p < n; ++p) { for (h = 0; h < m; ++h) printf "%d ", at(p, h); print 0 }
      for (h = 0; h < m; ++h)
        for (p = 0; p < n; ++p)
          for (q = 0; q < p; ++q) print -at(p, h), -at(q, h), 0
    }'
}
pigeons 7 >pigeons.cnf
pigeons 13 >hard.cnf

# ---- answers ----

# is_model FILE: the v lines of the last run give each clause a literal that holds.
is_model() {
  awk 'NR == FNR { if ($1 == "v") for (i = 2; i <= NF; ++i) holds[$i] = 1; next }
    $1 == "p" || $1 == "c" { next }
    { fine = 0; for (i = 1; i < NF; ++i) if ($i in holds) fine = 1; if (!fine) bad = 1 }
    END { exit bad }' out "$1" || fail "$1: no model"
}

expect_status 10 solve sat.cnf
expect_no_err
expect_out 'c 3 variables, 3 clauses'
expect_out 's SATISFIABLE'
is_model sat.cnf
expect_status 10 solve sat.cnf --no-model --quiet
expect_exactly 's SATISFIABLE'
expect_status 20 solve unsat.cnf -q
expect_exactly 's UNSATISFIABLE'
expect_status 20 solve pigeons.cnf --engine portfolio --threads 3 -q --stats
expect_exactly 's UNSATISFIABLE'
expect_status 10 solve sat.cnf --engine portfolio
is_model sat.cnf
expect_status 20 solve pigeons.cnf --stats
expect_out 'clauses learned'

# The same bytes each time.
expect_status 10 solve sat.cnf
cp out first
expect_status 10 solve sat.cnf
cmp -s first out || fail "two runs print different things"

# Long models are broken into lines.
awk 'BEGIN { print "p cnf 5000 5000"; for (i = 1; i <= 5000; ++i) print (i % 3 ? i : -i), 0 }' >long.cnf
expect_status 10 solve long.cnf
is_model long.cnf
[ "$(awk '{ if (length($0) > most) most = length($0) } END { print most }' out)" -le 78 ] ||
  fail "a line is too long"
[ "$(grep '^v' out | tail -n 1 | grep -c ' 0$')" -eq 1 ] || fail "the values do not end with 0"

# From standard input, packed, and under another name.
"$xlog" solve - <sat.cnf >out 2>err
[ $? -eq 10 ] || fail "standard input"
gzip -c unsat.cnf >unsat.cnf.gz
expect_status 20 solve unsat.cnf.gz
cp unsat.cnf formula.txt
expect_status 20 solve formula.txt
expect_status 20 solve formula.txt --format cnf

# Few of many variables.
printf 'p cnf 2000000000 3\n2000000000 5 0\n-2000000000 -7 0\n7 -5 0\n' >sparse.cnf
expect_status 10 solve sparse.cnf
is_model sparse.cnf
[ "$(grep -c '^v' out)" -eq 1 ] || fail "values of variables in no clause"
printf 'p cnf 2000000000 2\n2000000000 0\n-2000000000 0\n' >sparse.cnf
expect_status 20 solve sparse.cnf
expect_status 20 solve unsat.cnf --proof huge.drat # the numbers of a header take no room
sed 's/cnf 2 4/cnf 2000000000 4/' unsat.cnf >huge.cnf
expect_status 20 solve huge.cnf --check-proof
expect_status 20 solve huge.cnf --verify huge.drat
printf 'p cnf 0 0\n' >empty.cnf
expect_status 10 solve empty.cnf -q
expect_exactly 's SATISFIABLE
v 0'
printf 'p cnf 2 2\n1 2 0\n0\n' >empty_clause.cnf
expect_status 20 solve empty_clause.cnf --check-proof

# ---- limits ----

expect_status 0 solve hard.cnf --conflicts 100
expect_out 's UNKNOWN'
expect_out '--conflicts'
expect_status 0 solve hard.cnf --timeout 0.2
expect_out '--timeout'
expect_status 0 solve hard.cnf --timeout 0.2 --threads 2
expect_out 's UNKNOWN'
expect_status 0 solve hard.cnf --memory 1k
expect_out '--memory'

# ended SIGNAL ARGS...: the signal ends the solve with what is known, and leaves no file.
if env --default-signal=INT true 2>/dev/null; then plain_int='env --default-signal=INT'; else plain_int=; fi
ended() {
  signal=$1
  shift
  mkdir run
  $plain_int "$xlog" solve hard.cnf "$@" >out 2>err &
  pid=$!
  i=0
  while [ $i -lt 50 ] && kill -0 $pid 2>/dev/null; do
    sleep 0.1
    i=$((i + 1))
    [ $i -lt 4 ] || kill -$signal $pid 2>/dev/null
    [ $i -lt 4 ] || break
  done
  wait $pid 2>/dev/null
  status=$?
  [ $status -eq 0 ] || fail "SIG$signal $*: exit status $status"
  expect_out 's UNKNOWN'
  expect_out 'interrupted'
  [ -z "$(ls run)" ] || fail "SIG$signal left: $(ls run)"
  rmdir run
}
ended TERM
ended TERM --proof run/proof.drat
ended TERM --threads 2
[ -z "$plain_int" ] || ended INT

# ---- proofs ----

expect_status 20 solve pigeons.cnf --proof pigeons.drat --check-proof
expect_out 'the proof is checked'
expect_status 20 solve pigeons.cnf --verify pigeons.drat
expect_out 's VERIFIED'
gzip -k pigeons.drat
expect_status 20 solve pigeons.cnf --verify pigeons.drat.gz
expect_status 1 solve sat.cnf --verify pigeons.drat
expect_out 's NOT VERIFIED'
expect_err 'does not follow'
head -n 3 pigeons.drat >cut.drat
expect_status 1 solve pigeons.cnf --verify cut.drat
expect_err 'the proof ends before the empty clause follows'
expect_status 10 solve sat.cnf --proof none.drat --check-proof
[ ! -e none.drat ] || fail "a proof of a formula that has a model"
expect_status 1 solve unsat.cnf --proof nowhere/p.drat
expect_err 'cannot write the proof'
if [ -e /dev/full ]; then
  "$xlog" solve sat.cnf >/dev/full 2>err
  [ $? -eq 1 ] || fail "writing to a full disk should exit 1"
fi

# ---- what a user may do wrong ----

expect_status 1 solve missing.cnf
expect_err 'No such file or directory'
printf 'p cnf 3 1\n1 4 0\n' >bad.cnf
expect_status 1 solve bad.cnf
expect_err 'bad.cnf:2: literal `4` is beyond the 3 variables of the header'
expect_err 'help: '
printf 'p cnf 3 1\n1 2\n' >bad.cnf
expect_status 1 solve bad.cnf
expect_err 'bad.cnf:2: the clause that begins here does not end with 0'
printf 'p cnf 99999999999 1\n1 2 0\n' >bad.cnf
expect_status 1 solve bad.cnf
expect_err 'bad.cnf:1: 99999999999 variables'
head -c 3000 /dev/urandom >bad.cnf
expect_status 1 solve bad.cnf
echo nonsense >nonsense
expect_status 1 solve nonsense
expect_err '--format'
expect_status 2 solve
expect_status 2 solve sat.cnf --engine nosuch
expect_status 2 solve sat.cnf --format nosuch
expect_status 2 solve sat.cnf --threads 0
expect_status 2 solve sat.cnf --timeout -1
expect_status 2 solve sat.cnf --memory much
expect_status 2 solve sat.cnf --conflicts -1
expect_status 2 solve sat.cnf --engine cadical --threads 2
expect_status 2 solve sat.cnf --threads 2 --proof p.drat
expect_status 2 solve sat.cnf --verify a --proof b
expect_status 2 solve sat.cnf --proff p
expect_err 'did you mean `--proof`?'
finish
