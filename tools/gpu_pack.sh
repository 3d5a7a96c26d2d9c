#!/bin/sh
# Collects what a GPU machine needs that can install nothing: the programs of a release build and
# the shared libraries they open, in one folder. There: XLOG_PREBUILT=FOLDER ./dev gpu-test
#
# usage: tools/gpu_pack.sh BUILD FOLDER
set -eu
build=$1
folder=$2

rm -rf "$folder"
mkdir -p "$folder/lib"
for program in xlog device_test render_test kernel_test engine_test solve_test epistemic_test \
  bench/bench_gpu bench/bench_gpu_datalog bench/bench_batch; do
  [ -x "$build/$program" ] || { echo "gpu-pack: $build/$program is missing" >&2; exit 1; }
  strip -o "$folder/${program##*/}" "$build/$program"
done

# The C and C++ libraries come from the machine itself; libraries opened at run time are named.
library_path() {
  /sbin/ldconfig -p | awk -v name="$1" '$1 == name { print $NF; exit }'
}
needed_by() {
  ldd "$@" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' |
    grep -vE '/(libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s)\.so\.[0-9]+$'
}
opened="$(library_path libLLVM-16.so.1) $(library_path libOpenCL.so.1)"
for library in $opened $(needed_by "$folder"/* $opened | sort -u); do
  cp -L "$library" "$folder/lib/"
done
(cd "$folder" && tar cf - lib | xz -T0 -6 >lib.tar.xz && rm -rf lib)
du -sh "$folder"
