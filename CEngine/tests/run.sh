#!/bin/sh
# Runs the test programs that it is given, as many at once as there are processors or TEST_JOBS says, by an emulator if
# TEST_RUNNER names one, and closes with the line "N passed, N failed".
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

# run_one PROGRAM -- run one program and print its result at once, so that programs that run together do not mix theirs
run_one() {
    name=$(basename "$1")
    start=$(date +%s)
    $limit ${TEST_RUNNER:-} "$1" >"$1.log" 2>&1 </dev/null
    code=$?
    seconds=$(($(date +%s) - start))
    if [ $code -eq 0 ] && ! tail -n 1 "$1.log" | grep -Eq '^[1-9][0-9]* checks, 0 failed(, [0-9]+ skipped)?$'; then
        code=none
    fi
    {
        case $code in
            0) echo "  ok      $name ($seconds s)" ;;
            124) echo "  FAILED  $name (stopped after $seconds s)" ;;
            none) echo "  FAILED  $name (ended without checks)" ;;
            *) echo "  FAILED  $name (exit code $code)" ;;
        esac
        if [ "$code" != 0 ] || [ "${VERBOSE:-0}" = 1 ]; then
            sed 's/^/          /' "$1.log"
        fi
    } >"$1.result"
    cat "$1.result"
}

if [ "${1:-}" = --one ]; then
    run_one "$2"
    exit 0
fi

jobs=${TEST_JOBS:-$(getconf _NPROCESSORS_ONLN)}
[ $# -eq 0 ] || for program in "$@"; do rm -f "$program.result"; done
[ $# -eq 0 ] || printf '%s\n' "$@" | xargs -P "$jobs" -I '{}' sh "$0" --one '{}'

passed=0
failed=0
for program in "$@"; do
    # A program without a result, because whoever ran it was killed, has failed.
    if head -n 1 "$program.result" 2>/dev/null | grep -q '^  ok '; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
