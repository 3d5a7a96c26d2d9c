# A process that is ended from outside, while it evaluates and while it writes: no output file under
# its own name but a complete one, nothing else left but by SIGKILL, and the next run works.
. "$(dirname "$0")/lib.sh"
ulimit -c 0

cat >long.xlog <<'P'
n(1..1000).
p(A, B, C) :- n(A), n(B), n(C).
some(X) :- p(X, Y, Z).
?- some(X).
P
cat >rows.xlog <<'P'
n(1..700).
pair(X, Y) :- n(X), n(Y).
?- pair(X, Y).
?- n(X).
P
# `long.xlog` is the start of a run that nobody waits for.
limit='--device interp --memory 8G'

# A shell without job control starts background commands with SIGINT and SIGQUIT ignored.
if env --default-signal=INT,QUIT true 2>/dev/null; then
  plain_int='env --default-signal=INT,QUIT'
  signals='TERM INT KILL'
  more_signals='QUIT USR1 ALRM XCPU'
else
  echo 'skipped: SIGINT and SIGQUIT, where env has no --default-signal'
  plain_int=''
  signals='TERM KILL'
  more_signals='USR1 ALRM XCPU'
fi

# ended_by SIGNAL STATUS: whether the shell says so.
ended_by() {
  case $1 in
  INT) [ "$2" -eq 130 ] ;;
  TERM) [ "$2" -eq 143 ] ;;
  KILL) [ "$2" -eq 137 ] ;;
  QUIT) [ "$2" -eq 131 ] ;;
  USR1) [ "$2" -eq 138 ] ;;
  ALRM) [ "$2" -eq 142 ] ;;
  XCPU) [ "$2" -eq 152 ] ;;
  esac
}

# appears PATTERN: waits until such a file is there, ten seconds at most.
appears() {
  i=0
  until ls $1 >/dev/null 2>&1; do
    i=$((i + 1))
    [ $i -lt 1000 ] || return 1
    sleep 0.01
  done
}

# While it evaluates. The profile is open from the start, so its temporary file says that the run is
# under way.
for signal in $signals $more_signals; do
  mkdir work
  echo before >work/answers.csv
  $plain_int "$xlog" run long.xlog $limit --output work/answers.csv --profile work/trace.json \
    >out 2>err &
  pid=$!
  appears 'work/trace.json.*' || fail "SIG$signal: the run never began"
  sleep 0.3
  kill -$signal $pid
  wait $pid 2>/dev/null
  ended_by $signal $? || fail "SIG$signal while it evaluates"
  [ "$(cat work/answers.csv)" = before ] || fail "SIG$signal: the file from before is changed"
  [ ! -e work/trace.json ] || fail "SIG$signal: a profile"
  [ $signal = KILL ] || [ "$(ls work)" = answers.csv ] || fail "SIG$signal left: $(ls work)"
  rm -r work
done

# While it writes: it is stopped when the file under the other name is there, and then ended. A run
# that was faster than that has written everything.
expect_status 0 run rows.xlog --output whole.csv
expect_status 0 run rows.xlog --output-dir whole
for signal in $signals; do
  mkdir work
  $plain_int "$xlog" run rows.xlog --output work/answers.csv >out 2>err &
  pid=$!
  appears 'work/answers.csv.*' || [ -e work/answers.csv ] || fail "nothing is written"
  kill -STOP $pid 2>/dev/null
  kill -$signal $pid 2>/dev/null
  kill -CONT $pid 2>/dev/null
  wait $pid 2>/dev/null
  status=$?
  if [ -e work/answers.csv ]; then
    cmp -s work/answers.csv whole.csv || fail "SIG$signal: half an answer under its name"
  else
    ended_by $signal $status || fail "SIG$signal while it writes: exit status $status"
  fi
  [ $signal = KILL ] || [ -z "$(ls work | grep -v '^answers.csv$')" ] ||
    fail "SIG$signal while it writes left: $(ls work)"

  $plain_int "$xlog" run rows.xlog --output-dir work/all >out 2>err &
  pid=$!
  appears 'work/all/query_*' || fail "nothing is written"
  kill -$signal $pid 2>/dev/null
  wait $pid 2>/dev/null
  for file in query_1.csv query_2.csv; do
    [ ! -e work/all/$file ] || cmp -s work/all/$file whole/$file || fail "SIG$signal: half of $file"
  done
  [ $signal = KILL ] || [ -z "$(ls work/all | grep '\.csv\.')" ] ||
    fail "SIG$signal while it writes left: $(ls work/all)"

  # What SIGKILL leaves is in nobody's way.
  expect_status 0 run rows.xlog --output work/answers.csv
  cmp -s work/answers.csv whole.csv || fail "the run after SIG$signal"
  expect_status 0 run rows.xlog --output-dir work/all
  cmp -s work/all/query_1.csv whole/query_1.csv || fail "the run after SIG$signal, in a folder"
  rm -r work
done

# Nobody reads on: SIGPIPE, or an error where that is ignored.
mkdir work
"$xlog" run rows.xlog --profile work/trace.json --format csv | head -n 1 >out
[ -z "$(ls work | grep -v '^trace.json$')" ] || fail "a closed pipe left: $(ls work)"
rm -r work

# Ctrl-C on a terminal takes the progress line away.
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
  erase=$(printf '\r\033[K')
  (
    i=0
    until [ $i -ge 1000 ] || grep -qF 'rows/s' seen 2>/dev/null; do
      i=$((i + 1))
      sleep 0.02
    done
    printf '\003'
    sleep 1
  ) | TERM=xterm script -qfec "$xlog run long.xlog $limit" seen >/dev/null 2>&1
  grep -q 'rows/s' seen || fail "no progress on a terminal"
  # Behind the last figures there is nothing but the terminal's ^C and the end of the line.
  grep -a 'rows/s' seen | tail -n 1 | grep -qaF "^C$erase" || {
    fail "Ctrl-C leaves the progress line"
    tail -c 200 seen | od -c
  }
else
  echo 'skipped: Ctrl-C, where script(1) does not work'
fi
finish
