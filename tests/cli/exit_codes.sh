# The exit codes: 0 answered, 1 error, 2 usage, 3 no world view or no such fact, 4 limit.
. "$(dirname "$0")/lib.sh"

echo 'p(1). p(2). ?- p(X).' >ok.xlog
echo 'p(X) :- q(Y).' >unsafe.xlog
echo 'p(1). :- p(X).' >violated.xlog
echo 'p :- not know p.' >noview.xlog
cat >large.xlog <<'XLOG'
n(1..8).
a(X) :- n(X), not know b(X).
b(X) :- n(X), not know a(X).
c :- a(X), a(Y), X < Y.
XLOG

expect_status 0 run ok.xlog
expect_no_err
expect_status 0 ok.xlog
expect_status 0 ok.xlog --format csv
expect_status 0 run ok.xlog --engine reference
expect_status 0 run ok.xlog --device interp
expect_status 2 run ok.xlog --device nosuch
expect_err 'there is no device `nosuch`'
expect_status 2 run ok.xlog --device cuda:x
expect_status 1 run ok.xlog --device cuda:99
expect_err 'error[E0703]'
expect_status 2 explain E9999
expect_err 'there is no code `E9999`'
expect_status 2 run ok.xlog --engine nosuch
expect_status 1 run unsafe.xlog
expect_err 'error[E0601]'
expect_err 'unsafe.xlog:1:'
expect_status 1 run missing.xlog
expect_err 'error[E0801]'
expect_status 1 missing.xlog
expect_status 1 run violated.xlog
expect_err 'error[E0901]'
expect_status 3 run noview.xlog
expect_err 'warning[W0902]'
expect_out 'No world view'
expect_status 0 run large.xlog
expect_status 4 run large.xlog --max-candidates 10
expect_err 'error[E0702]'

expect_status 2 run
expect_err 'Try `xlog run --help`'
expect_status 2 run ok.xlog --format xml
expect_status 2 run ok.xlog --fromat csv
expect_err 'did you mean `--format`?'
expect_status 2 run ok.xlog --world-views many
expect_status 2 run ok.xlog --input nonsense
expect_status 2 run ok.xlog -D nonsense
expect_status 2 run ok.xlog --timeout -1
expect_status 2 run ok.xlog --output -
expect_err 'answers go to standard output where there is no --output'
expect_status 2 run - --input p=-
expect_err 'standard input can be read only once'
expect_status 2 run ok.xlog --input p=- --input q=-
expect_status 2 run ok.xlog other.xlog
expect_status 2 rum ok.xlog
expect_err 'did you mean `run`?'
expect_status 2 fmt --check -w ok.xlog
expect_status 2 completion tcsh

expect_status 0
expect_out 'run'
expect_status 0 --help
expect_status 0 --version
for command in run check fmt explain why repl watch solve version completion; do
  expect_status 0 $command --help
  expect_out 'Examples:'
done

# A reader that leaves early, and a full disk.
"$xlog" run ok.xlog 2>err | true
[ ! -s err ] || fail "a closed pipe is no reason to complain"
if [ -e /dev/full ]; then
  "$xlog" run ok.xlog >/dev/full 2>err
  [ $? -eq 1 ] || fail "writing to a full disk should exit 1"
fi
finish
