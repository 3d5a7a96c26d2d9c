# What the scripts of this folder share, on top of cli/lib.sh.
. "$(dirname "$0")/../cli/lib.sh"

# The sanitizers make everything slower.
seconds=10
[ -z "${XLOG_SANITIZE:-}" ] || seconds=100

# rejects FILE: every command that reads a program says what is wrong with it, in time and without a crash.
rejects() {
  for command in run check 'fmt --check' 'explain --stage components'; do
    timeout $seconds "$xlog" $command "$1" >out 2>err
    status=$?
    [ $status -eq 1 ] || fail "xlog $command $1: exit status $status, not 1"
    grep -q '^error\[E[0-9]*\]: ' err || fail "xlog $command $1: no diagnostic"
    [ "$(wc -c <err)" -lt 200000 ] || fail "xlog $command $1: $(wc -c <err) bytes of messages"
    # Control characters of the input must not reach the terminal.
    ! LC_ALL=C grep -q "$(printf '[\001-\010\016-\037\177]')" err ||
      fail "xlog $command $1: control characters in the messages"
  done
}

# survives FILE: no crash and no endless run; good or bad is left open.
survives() {
  for command in run check fmt 'explain --stage ast' 'explain --stage types'; do
    timeout $seconds "$xlog" $command "$1" >out 2>err
    status=$?
    [ $status -le 4 ] || fail "xlog $command $1: exit status $status"
  done
  timeout $seconds "$xlog" repl <"$1" >out 2>err
  status=$?
  [ $status -le 1 ] || fail "xlog repl <$1: exit status $status"
}

# repeat TEXT N: the text N times, without a line end.
repeat() { awk -v text="$1" -v n="$2" 'BEGIN { for (i = 0; i < n; i++) printf "%s", text }'; }
