#!/bin/sh
# Stands in for codex exec: takes the prompt, and answers with the stream that a variable names.
cat > /dev/null
exec cat "$BENCH_STREAM"
