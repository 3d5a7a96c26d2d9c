# What the scripts of this folder share: `. "$(dirname "$0")/lib.sh"`, with the path of xlog as $1.
# Each `expect_*` runs xlog and compares; the script's exit status is the number of failures.
set -u
xlog=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
  failures=$((failures + 1))
  echo "FAILED: $*"
}

# run ARGS...: leaves the exit status in $status, the output in out and err.
run() {
  "$xlog" "$@" >out 2>err
  status=$?
}

# expect_status N ARGS...
expect_status() {
  wanted=$1
  shift
  run "$@"
  [ "$status" -eq "$wanted" ] || {
    fail "xlog $*: exit status $status, not $wanted"
    sed 's/^/  out: /' out
    sed 's/^/  err: /' err
  }
}

# expect_out TEXT / expect_err TEXT: the last run printed this line or part of a line.
expect_out() { grep -qF -- "$1" out || { fail "output lacks: $1"; sed 's/^/  out: /' out; }; }
expect_err() { grep -qF -- "$1" err || { fail "messages lack: $1"; sed 's/^/  err: /' err; }; }
expect_no_err() { [ ! -s err ] || { fail "messages where none should be"; sed 's/^/  err: /' err; }; }

# expect_exactly TEXT: the whole output of the last run.
expect_exactly() {
  printf '%s\n' "$1" >wanted
  diff -u wanted out || fail "output differs"
}

finish() {
  [ $failures -eq 0 ] && echo ok
  exit $failures
}
