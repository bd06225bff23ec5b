#!/bin/sh
# Runs the test programs that it is given and closes with the line "N passed, N failed".
# A program passes when it exits with 0 and its last line counts at least one check and no failed one;
# no program at all is a failure. What a program printed is shown when it failed, or always with VERBOSE=1.
set -u

# A leak, an overflow or undefined behaviour ends the program, and so fails its test.
ASAN_OPTIONS="abort_on_error=0:halt_on_error=1:exitcode=99${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
TSAN_OPTIONS="halt_on_error=1:exitcode=99${TSAN_OPTIONS:+:$TSAN_OPTIONS}"
# Apple's AddressSanitizer has no leak detection and refuses to start when asked for it.
[ "$(uname -s)" = Darwin ] || ASAN_OPTIONS="detect_leaks=1:$ASAN_OPTIONS"
export ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS

if command -v timeout >/dev/null 2>&1; then
    limit="timeout --kill-after=10 ${TEST_TIMEOUT:-600}"
else
    limit=
fi

passed=0
failed=0
for program in "$@"; do
    name=$(basename "$program")
    start=$(date +%s)
    $limit "$program" >"$program.log" 2>&1 </dev/null
    code=$?
    seconds=$(($(date +%s) - start))
    if [ $code -eq 0 ] && ! tail -n 1 "$program.log" | grep -Eq '^[1-9][0-9]* checks, 0 failed(, [0-9]+ skipped)?$'; then
        code=none
    fi
    case $code in
        0) passed=$((passed + 1)) && echo "  ok      $name ($seconds s)" ;;
        124) failed=$((failed + 1)) && echo "  FAILED  $name (stopped after $seconds s)" ;;
        none) failed=$((failed + 1)) && echo "  FAILED  $name (ended without checks)" ;;
        *) failed=$((failed + 1)) && echo "  FAILED  $name (exit code $code)" ;;
    esac
    if [ "$code" != 0 ] || [ "${VERBOSE:-0}" = 1 ]; then
        sed 's/^/          /' "$program.log"
    fi
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
