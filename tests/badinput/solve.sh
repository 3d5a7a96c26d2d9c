# xlog solve: files that are wrong or cut off, and signals in the middle, for every kind of file.
. "$(dirname "$0")/../cli/lib.sh"

# refused KIND TEXT MESSAGE: exit code 1, a message with this in it, nothing on standard output.
refused() {
  printf "$2" >"bad.$1"
  run solve "bad.$1"
  [ "$status" -eq 1 ] || fail "$1 $2: exit status $status"
  expect_err "$3"
  [ ! -s out ] || fail "$1 $2: printed $(head -c 200 out)"
}

# ---- headers and numbers ----

refused cnf '' 'bad.cnf:'
refused cnf 'p cnf\n' 'bad.cnf:2: the text ends'
refused cnf 'p cnf 2\n1 0\n' 'bad.cnf:1'
refused cnf 'p cnf x 1\n1 0\n' 'bad.cnf:1'
refused cnf 'p cnf -1 1\n1 0\n' 'bad.cnf:1'
refused cnf 'p wcnf 1 1 5\n5 1 0\n' 'bad.cnf:1'
refused cnf 'p cnf 2 1\n1 3 0\n' 'literal `3` is beyond the 2 variables'
refused cnf 'p cnf 99999999999999999999 1\n1 0\n' 'bad.cnf:1'
refused cnf 'p cnf 2 1\n1 99999999999999999999 0\n' 'bad.cnf:2'
refused cnf 'p cnf 2 2\n1 0\n' 'bad.cnf:'
refused cnf 'p cnf 2 1\n1 2' 'bad.cnf:2'
refused cnf 'p cnf 2 1\n1 two 0\n' 'bad.cnf:2'

refused wcnf 'p wcnf\n' 'bad.wcnf:2: the text ends'
refused wcnf 'p wcnf 2 1 x\n1 1 0\n' 'bad.wcnf:1'
refused wcnf 'p wcnf 2 1 10\n10 3 0\n' 'bad.wcnf:2'
refused wcnf 'h 1 2\n' 'bad.wcnf:1'
refused wcnf '99999999999999999999 1 0\n' 'bad.wcnf:1'
refused wcnf '18446744073709551615 1 0\n1 2 0\n' 'bad.wcnf:'
refused wcnf '3\n' 'bad.wcnf:'

refused lp '' 'ground it first'
refused lp 'a :- b.\n' 'ground it first'
refused lp 'asp\n' 'ground it first'
refused lp 'asp 2 0 0\n0\n' 'bad.lp:1'
refused lp 'asp 1 0 0 incremental\n0\n' 'bad.lp:1'
refused lp 'asp 1 0 0\n1 1 1 1 0 0\n' 'the text ends without the line `0`'
refused lp 'asp 1 0 0\n1 1 1\n0\n' 'bad.lp:2'
refused lp 'asp 1 0 0\n1 1 1 99999999999 0 0\n0\n' 'bad.lp:2'
refused lp 'asp 1 0 0\n1 0 99999999999 1 0 0\n0\n' 'bad.lp:2'
refused lp 'asp 1 0 0\n1 0 0 1 1 1 1 99999999999999999999\n0\n' 'bad.lp:2'
refused lp 'asp 1 0 0\n77\n0\n' 'bad.lp:2'
refused lp 'asp 1 0 0\n4 5 ab 0\n0\n' 'bad.lp:'

refused sir '' 'a job without its first line'
refused sir 'sir 2 sat\n' 'bad.sir:1'
refused sir 'sir 1 nosuch\n' 'bad.sir:1'
refused sir 'sir 1 sat\nclause 1 0\n' 'bad.sir:2'
refused sir 'sir 1 sat\nclause 99999999999\n' 'bad.sir:2'
refused sir 'sir 1 sat\nclausse 1\n' 'did you mean `clause`?'
refused sir 'sir 1 sat\nvariables 99999999999\n' 'bad.sir:2'
refused sir 'sir 1 maxsat\nsoft 99999999999999999999 1\n' 'bad.sir:2'
refused sir 'sir 1 maxsat\nsoft 18446744073709551615 1\nsoft 1 2\n' 'does not fit in 64 bits'
refused sir 'sir 1 maxsat\nreturn count\n' 'bad.sir:2'
refused sir 'sir 1 stable\nrule\n' 'bad.sir:2'
refused sir 'sir 1 stable\nshow "a\n' 'bad.sir:2'
refused sir 'sir 1 stable\nrule 1 <- sum 2 1=99999999999999999999\n' 'bad.sir:2'
refused sir 'sir 1 sat\nlimit seconds -1\n' 'bad.sir:2'
refused sir 'sir 1 sat\nreturn models\n' 'bad.sir:2'

# ---- what is odd but fine ----

answered() {
  printf "$3" >"fine.$2"
  expect_status "$1" solve "fine.$2" -q
}
answered 10 cnf 'p cnf 0 0\n'
answered 20 cnf 'p cnf 1 1\n0\n'
answered 10 cnf 'p cnf 2000000000 1\n2000000000 0\n'
answered 30 wcnf 'h 1 0\n'
answered 20 wcnf 'h 0\n'
answered 30 wcnf '7 0\n'
expect_out 'o 7'
answered 30 wcnf 'h 2000000000 0\n3 -2000000000 0\n'
expect_out 'v 2000000000 0'
answered 30 wcnf '18446744073709551614 1 0\n1 -1 0\n'
answered 10 lp 'asp 1 0 0\n0\n'
answered 20 lp 'asp 1 0 0\n1 0 0 0 0\n0\n'
answered 10 sir 'sir 1 sat\n'
answered 20 sir 'sir 1 sat\nclause\n'
answered 10 sir 'sir 1 sat\nvariables 2000000000\nassume 1999999999\n'
answered 20 sir 'sir 1 sat\nassume 1 -1\nreturn core\n'
answered 20 sir 'sir 1 maxsat\nsoft 1 1\nassume 1 -1\n'
answered 20 sir 'sir 1 stable\nchoice 1\nassume 1 -1\nreturn core\n'
answered 30 sir 'sir 1 stable\nreturn count\n'

# ---- cut off at any byte: an answer or a message, never a crash ----

printf 'p cnf 3 3\n1 2 0\n-1 3 0\n-2 -3 0\n' >whole.cnf
printf 'c old\np wcnf 3 3 10\n10 1 2 0\n4 -1 3 0\n3 -2 0\n' >whole.wcnf
printf 'asp 1 0 0\n1 1 2 1 2 0 0\n1 0 1 3 1 2 2 1 1 -2 1\n2 0 1 1 2\n4 1 a 1 1\n0\n' >whole.lp
printf 'sir 1 stable\nchoice 1 2\nrule 3 <- sum 2 1=1 2=1\nshow "a" 1\nassume -2\nreturn models 0\n' >whole.sir
for kind in cnf wcnf lp sir; do
  bytes=$(wc -c <"whole.$kind")
  while [ "$bytes" -gt 0 ]; do
    bytes=$((bytes - 1))
    head -c "$bytes" "whole.$kind" >"cut.$kind"
    run solve "cut.$kind"
    case $status in
      0 | 1 | 10 | 20 | 30) ;;
      *) fail "$kind cut at $bytes: exit status $status" ;;
    esac
  done
done
for kind in cnf wcnf lp sir; do
  head -c 3000 /dev/urandom >"noise.$kind"
  expect_status 1 solve "noise.$kind"
done

# ---- assumptions that are none ----

for wrong in 0 4 -4 x 1x 99999999999 -2147483648; do
  expect_status 1 solve whole.cnf --assume="$wrong"
  [ "$status" -eq 1 ] && expect_err 'assume'
done
expect_status 1 solve whole.lp --assume nosuch
expect_err 'shows nothing named `nosuch`'

# ---- signals ----

awk 'BEGIN {
  n = 13; m = 12
  print "p cnf", n * m, n + m * n * (n - 1) / 2
  for (p = 0; p < n; ++p) { for (h = 1; h <= m; ++h) printf "%d ", p * m + h; print 0 }
  for (h = 1; h <= m; ++h) for (p = 0; p < n; ++p) for (q = 0; q < p; ++q)
    print -(p * m + h), -(q * m + h), 0
}' >hard.cnf
awk '$1 == "p" { next } $1 > 0 { print "h", $0; next } { print 1 + NR % 7, $0 }' hard.cnf >hard.wcnf
awk '$1 == "p" { printf "asp 1 0 0\n1 1 %d", $3; for (i = 1; i <= $3; ++i) printf " %d", i; print " 0 0"; next }
  { printf "1 0 0 0 %d", NF - 1; for (i = 1; i < NF; ++i) printf " %d", -$i; print "" }
  END { print 0 }' hard.cnf >hard.lp
for kind in cnf wcnf lp; do
  expect_status 0 solve hard.$kind --print-sir
  cp out hard_$kind.sir
done
awk 'BEGIN { print "p cnf 60 40"; for (i = 1; i <= 40; ++i) print i, i + 10, -(i + 20), 0 }' >many.cnf

# By then it has read the file; the sanitizers make that slower.
pause=0.5
[ -z "${XLOG_SANITIZE:-}" ] || pause=4

# ended EXIT_STATUS LINE ARGS...: SIGINT, or SIGTERM where the shell keeps the other to itself.
if env --default-signal=INT true 2>/dev/null; then signal=INT plain='env --default-signal=INT'; else signal=TERM plain=; fi
ended() {
  wanted=$1 line=$2
  shift 2
  $plain "$xlog" solve "$@" >out 2>err &
  pid=$!
  sleep $pause
  kill -$signal $pid 2>/dev/null
  wait $pid 2>/dev/null
  status=$?
  [ $status -eq "$wanted" ] || fail "SIG$signal, $*: exit status $status"
  expect_out "$line"
  expect_out 'c stopped: interrupted'
}
ended 0 's UNKNOWN' hard.cnf
ended 0 's UNKNOWN' hard.cnf --threads 3
ended 0 's UNKNOWN' hard.cnf --engine local-search
ended 0 's UNKNOWN' hard.cnf --cautious
ended 0 's UNKNOWN' hard.lp
ended 0 's UNKNOWN' hard.lp --count
ended 0 's UNKNOWN' hard.lp --brave
ended 0 's UNKNOWN' hard_cnf.sir
ended 0 's UNKNOWN' hard_lp.sir
ended 10 's SATISFIABLE' hard.wcnf
ended 10 's SATISFIABLE' hard_wcnf.sir
ended 10 's SATISFIABLE' many.cnf --models 0 --no-model
finish
