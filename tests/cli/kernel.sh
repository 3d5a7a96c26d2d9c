# xlog kernel: run, replay, render, rewrite, bench, devices, viewer, ops.
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME="$work/cache"

cat >k.ir <<'IR'
# y = 3 * x + 0, the long way round
kernel triple(n: u32, x: in u32, y: out u32) {
  i = grid n
  a = load x i
  b = mul a 1:u32
  c = add b 0:u32
  d = mul c 3:u32
  store y i d
}
kernel short_of(n: u32, x: in u32, y: out u32) {
  i = grid n
  a = load x i
  ok = lt a 10:u32
  check overflow ok
  store y i a
}
IR
printf 'kernel bad(n: u32) {\n  i = grid m\n}\n' >bad.ir

for device in oracle interp cpu c; do
  expect_status 0 kernel run k.ir triple -d $device -a n=3 -a x=1,2,30 -a y=zero:3
  expect_out 'y: u32[3] = 3 6 90'
done
expect_status 0 kernel run k.ir triple -d oracle,interp,cpu -a n=1000 -a x=random:1000 -a y=zero:1000
expect_status 0 kernel run k.ir triple -d cpu --threads 2 -a n=4 -a x=iota:4 -a y=zero:4 --json
expect_out '"first":"0 3 6 9"'
expect_status 1 kernel run k.ir short_of -d cpu -a n=3 -a x=1,20,30 -a y=zero:3
expect_out 'check 1 failed, first in instance 1'

# What a user may do wrong.
expect_status 1 kernel run k.ir
expect_err 'say which one'
expect_err 'triple, short_of'
expect_status 1 kernel run k.ir tripel -a n=3
expect_err 'did you mean `triple`?'
expect_status 1 kernel run k.ir triple -a n=3 -a x=1,2,3
expect_err 'parameter `y` (out u32) has no value'
expect_status 1 kernel run k.ir triple -a n=3 -a x=1,-2 -a y=zero:3
expect_err '`-2` is no u32'
expect_status 1 kernel run k.ir triple -a z=3
expect_err 'no parameter `z`'
expect_status 1 kernel run k.ir triple -d oracle -a n=4 -a x=1,2,3 -a y=zero:4
expect_err 'x'
expect_status 1 kernel run k.ir triple -d quantum -a n=1 -a x=1 -a y=1
expect_err 'quantum'
expect_status 1 kernel run bad.ir
expect_err 'bad.ir:2:'
expect_status 1 kernel run .
expect_err 'is a folder'
expect_status 1 kernel run k.ir triple -a n=1 -a x=@/dev/zero -a y=zero:1
expect_err 'is a device'
expect_status 1 kernel run k.ir triple -a n=1 -a n=2 -a x=1 -a y=zero:1
expect_err '`n` is given twice'
expect_status 1 kernel run missing.ir
expect_err 'cannot read `missing.ir`'
expect_status 2 kernel
expect_status 2 kernel run
expect_status 2 kernel render k.ir triple -t fortran

# Plans run like kernels; devices agree.
plans=$here/../kernel/plans.ir
for device in oracle interp cpu; do
  expect_status 0 kernel run "$plans" sum_of_squares -d $device -a x=1,2,3
  expect_out 'result0: u32[1] = 14'
  expect_out 'result1: u32[1] = 2'
  expect_status 0 kernel run "$plans" join -d $device -a left=3,1,3 -a right=1,2,3,3
  expect_out 'result0: u32[5] = 0 0 1 2 2'
  expect_out 'result1: u32[5] = 2 3 0 2 3'
  expect_out 'result2: u32[1] = 5'
done
expect_status 0 kernel run "$plans" join -d oracle,interp,cpu -a left=random:100:9 -a right=iota:9
cat >outside.ir <<'IR'
plan outside(ids: in u32) {
  starts, rows = partition ids 4
  yield starts rows
}
IR
expect_status 1 kernel run outside.ir -a ids=0,3,4
expect_err 'an index is outside its range (check 3'

# Recordings, and what becomes of them.
expect_status 0 kernel run k.ir triple -d interp --record a.log -a n=3 -a x=1,2,30 -a y=zero:3
for device in oracle interp cpu; do
  expect_status 0 kernel replay a.log -d $device
  expect_out "$device does what interp did: 1 launches, 1 buffers compared"
done
expect_status 0 kernel run "$plans" join --record plan.log -a left=3,1,3 -a right=1,2,3,3
expect_status 0 kernel replay plan.log --device oracle
expect_out 'oracle does what cpu did'
# A run that fails a check fails again in the same way.
expect_status 1 kernel run k.ir short_of --record failed.log -a n=3 -a x=1,20,30 -a y=zero:3
expect_status 0 kernel replay failed.log -d interp
# Two recordings of other values have the same length: the first one with the second one's results.
expect_status 0 kernel run k.ir triple -d interp --record b.log -a n=3 -a x=1,2,31 -a y=zero:3
at=$(grep -abo '^result 1' a.log | head -n 1 | cut -d: -f1)
{ head -c "$at" a.log; tail -c +$((at + 1)) b.log; } >tampered.log
expect_status 1 kernel replay tampered.log
expect_err 'launch 1, kernel triple, buffer y[2]: 93:u32 was recorded, 90:u32 is computed'
# Digests alone tell the buffer.
for x in 30 31; do
  run kernel run k.ir triple --record $x.log --record-level 2 -a n=3 -a x=1,2,$x -a y=zero:3
done
at=$(grep -abo '^result 1' 30.log | head -n 1 | cut -d: -f1)
{ head -c "$at" 30.log; tail -c +$((at + 1)) 31.log; } >tampered.log
expect_status 1 kernel replay tampered.log
expect_err 'kernel triple: y has other bytes'
at=$(grep -abo '^result 1' a.log | head -n 1 | cut -d: -f1)
cp a.log broken.log
printf 'Z' | dd of=broken.log bs=1 seek="$at" conv=notrunc 2>/dev/null
expect_status 1 kernel replay broken.log
expect_err 'broken.log'
head -c "$at" a.log >cut.log
expect_status 1 kernel replay cut.log
expect_err '`cut.log` has no end after launch 1'
head -c $((at + 20)) a.log >cut.log
expect_status 1 kernel replay cut.log
expect_err 'cut.log'
expect_status 1 kernel replay k.ir
expect_err 'k.ir'
expect_status 1 kernel replay missing.log
expect_err 'missing.log'
expect_status 1 kernel run k.ir triple -d interp,cpu --record c.log -a n=3 -a x=1,2,3 -a y=zero:3
expect_err 'a recording is of one device'
expect_status 1 kernel run k.ir triple --record /nowhere/c.log -a n=3 -a x=1,2,3 -a y=zero:3
expect_err '/nowhere/c.log'
expect_status 2 kernel run k.ir triple --record c.log --record-level 4
expect_status 2 kernel replay

for target in c opencl cuda hip llvm ptx; do
  expect_status 0 kernel render k.ir triple -t $target
  expect_out 'xlog_kernel'
done
expect_status 0 kernel render k.ir triple -t ptx --ptx
expect_out '.visible .entry xlog_kernel'

expect_status 0 kernel rewrite k.ir triple --log
expect_out 'add-zero'
expect_out 'store y i'

expect_status 0 kernel devices
expect_out 'interp'
expect_status 0 kernel devices --json
expect_out '"name":"cpu"'

expect_status 0 kernel bench k.ir triple -d interp,cpu --repeat 2 -a n=100 -a x=iota:100 -a y=zero:100
expect_out 'interp'

expect_status 0 kernel viewer k.ir triple -o page.html
grep -q '"rule":"add-zero"' page.html || fail "the page does not name the rule"
grep -q 'https\?://' page.html && ! grep -q 'http://www.w3.org/2000/svg' page.html && fail "the page refers to the network"
expect_status 1 kernel viewer k.ir triple -o /nowhere/page.html

expect_status 0 kernel ops
expect_out '| `mulhi` | kernel | 2 |'
# docs/kernel_ops.md is this output and more.
grep -vxFf "$here/../../docs/kernel_ops.md" out >missing && fail "docs/kernel_ops.md lacks lines: make it anew from xlog kernel ops"
expect_status 0 kernel ops --device interp
expect_out '| `add` | same |'

finish
