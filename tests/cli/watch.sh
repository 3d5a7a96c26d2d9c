# watch: runs again when the program changes, and ends with 0 at SIGINT.
. "$(dirname "$0")/lib.sh"

echo 'p(1). ?- p(X).' >a.xlog
expect_status 0 watch --once a.xlog
expect_out '1 row'
expect_status 2 watch -

# wait_for TEXT: until it is in out, or for ten seconds.
wait_for() {
  i=0
  until grep -qF "$1" out err; do
    i=$((i + 1))
    [ $i -lt 100 ] || { fail "watch never printed: $1"; return; }
    sleep 0.1
  done
}
"$xlog" watch a.xlog --debounce-ms 20 >out 2>err &
pid=$!
wait_for '1 row'
echo 'p(1). p(2). ?- p(X).' >b.xlog && mv b.xlog a.xlog
wait_for '2 rows'
echo 'p(' >a.xlog
wait_for 'error[E01'
echo 'p(1). p(2). p(3). ?- p(X).' >a.xlog
wait_for '3 rows'
kill -INT $pid 2>/dev/null
wait $pid
code=$?
# A shell without job control starts background commands with SIGINT ignored.
[ $code -eq 0 ] || { kill $pid 2>/dev/null; fail "exit status $code after SIGINT"; }
finish
