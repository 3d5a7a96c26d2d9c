# A disk that gets full: what is wrong, exit status 1, no half of a file, and what was there stays.
. "$(dirname "$0")/lib.sh"

cat >rows.xlog <<'P'
n(1..600).
pair(X, Y) :- n(X), n(Y).
?- n(X).
?- pair(X, Y).
P
echo 'p(1). ?- p(X).' >small.xlog

# expect_full REASON ARGS...: cannot write into `disk`, where only `disk/kept` stays.
expect_full() {
  reason=$1
  shift
  expect_status 1 "$@"
  expect_err 'error[E0802]: cannot write `disk/'
  expect_err "$reason"
  [ "$(find disk -type f)" = disk/kept ] || fail "$*: left $(find disk -type f | tr '\n' ' ')"
}

mkdir disk
if mount -t tmpfs -o size=256k none disk 2>/dev/null; then
  trap 'umount "$work/disk"; rm -rf "$work"' EXIT
  echo kept >disk/kept
  for format in csv tsv json ndjson; do
    expect_full 'No space left on device' run rows.xlog --output disk/answers.$format
  done
  expect_full 'full' run rows.xlog --output disk/answers.db
  # The first file would fit.
  expect_full 'No space left on device' run rows.xlog --output-dir disk/all
  cp disk/kept disk/kept.copy && mv disk/kept.copy disk/kept
  expect_full 'No space left on device' run rows.xlog --output disk/kept --format csv
  [ "$(cat disk/kept)" = kept ] || fail "a file was lost to one that did not fit"

  # Full from the beginning, without room for a name.
  dd if=/dev/zero of=disk/filler bs=1k count=1000 2>/dev/null
  expect_status 1 run small.xlog --output disk/answers.csv
  expect_err 'error[E0802]: cannot write `disk/answers.csv`: No space left on device'
  expect_status 1 run small.xlog --profile disk/trace.json
  expect_err 'error[E0802]: cannot write `disk/trace.json`: No space left on device'
  rm disk/filler
  expect_status 0 run small.xlog --output disk/answers.csv
  [ "$(cat disk/answers.csv)" = 'X
1' ] || fail "the run after there was room again"
else
  echo 'skipped: a full file system, which only root can mount'
fi

# Without being root: a limit on the size of files, for files and for standard output.
(ulimit -f 16 && exec "$xlog" run rows.xlog --output limited.csv) >out 2>err
[ $? -eq 1 ] || fail "a file past its limit should be exit status 1"
expect_err 'error[E0802]: cannot write `limited.csv`: File too large'
[ ! -e limited.csv ] || fail "half of a file"
(ulimit -f 16 && exec "$xlog" run rows.xlog --format csv) >limited.out 2>err
[ $? -eq 1 ] || fail "standard output past the limit of a file should be exit status 1"
expect_err 'cannot write to standard output: File too large'
if [ -e /dev/full ]; then
  "$xlog" run rows.xlog >/dev/full 2>err
  [ $? -eq 1 ] || fail "standard output on a full disk should be exit status 1"
  expect_err 'cannot write to standard output: No space left on device'
fi

# What cannot be written is known before the run, not after it.
cat >long.xlog <<'P'
n(0). n(X + 1) :- n(X), X < 1000000000.
?- n(5).
P
mkdir folder
for place in '--output missing/a.csv' '--output folder' '--output /dev/full' \
  '--output-dir rows.xlog' '--profile missing/trace.json'; do
  expect_status 1 run long.xlog $place
  expect_err 'error[E0802]: cannot write `'
  [ ! -s out ] || fail "$place: output"
done
finish
