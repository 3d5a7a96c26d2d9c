#!/bin/sh
# Runs one fuzzer for XLOG_FUZZ_SECONDS (default 30; 0: the seeds only).
# usage: run.sh FUZZER SEED-FOLDER SCRATCH-FOLDER
# New inputs go to SCRATCH-FOLDER/corpus, which starts as a copy of the seeds; a crashing input
# stays in SCRATCH-FOLDER.
set -eu
fuzzer=$1 seeds=$2 scratch=$3
seconds=${XLOG_FUZZ_SECONDS:-30}

rm -rf "$scratch/corpus"
mkdir -p "$scratch/corpus"
[ ! -d "$seeds" ] || cp -R "$seeds/." "$scratch/corpus/"

# To libFuzzer, a total time of 0 means for ever.
if [ "$seconds" -eq 0 ]; then limit=-runs=0; else limit=-max_total_time=$seconds; fi

"$fuzzer" "$limit" -max_len=4096 -timeout=10 -rss_limit_mb=4096 \
  -artifact_prefix="$scratch/" "$scratch/corpus" || {
  echo "To see it again: $fuzzer <the file named above>"
  echo "Once mended, keep that file as a numbered regression in $seeds"
  exit 1
}
