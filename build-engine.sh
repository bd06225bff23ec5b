#!/bin/sh
# Builds and installs libtansu, the C engine that the Swift package links. `./build-engine.sh --help` lists the options.
set -eu

usage() {
    cat <<'TEXT'
Builds the C engine in CEngine/ and installs it, so that `swift build` finds it.

usage: ./build-engine.sh [options]

  (no option)     install missing packages, build, and install the library, unless all is up to date
  --test          the same, build and run the C tests, and install what the Swift tests need
  --sanitize      build and run the C tests under AddressSanitizer and UndefinedBehaviorSanitizer
  --tsan          build and run the C tests under ThreadSanitizer
  --fuzz [N]      build the fuzz targets of CEngine/fuzz with clang and sanitizers, and run each for N seconds
                  (default: 60); findings are kept in .build-engine/fuzz
  --uninstall     remove the library from the prefix
  --prefix DIR    where to install (default: /usr/local); a folder that you own needs no root rights
  --without NAME  build without an optional library of CEngine/dependencies; may be repeated
  --jobs N        number of compilers at once (default: one a core)
  --help          this text

The environment variable CC chooses the compiler. Products are kept in .build-engine/.

exit codes: 0 success, 2 invalid option, 3 no right to write to the prefix, 4 no compiler,
            5 a needed package is missing and could not be installed, 6 the build failed,
            7 a test failed or a fuzz target found something
TEXT
}

EXIT_USAGE=2 EXIT_RIGHTS=3 EXIT_COMPILER=4 EXIT_PACKAGE=5 EXIT_BUILD=6 EXIT_TEST=7

say() { echo "$*"; }

# fail -- print a message to standard error and exit with a code
fail() {
    code=$1
    shift
    echo "build-engine.sh: error: $*" >&2
    exit "$code"
}

have() { command -v "$1" >/dev/null 2>&1; }

root=$(cd "$(dirname "$0")" && pwd)
engine=$root/CEngine
products=$root/.build-engine
system=$(uname -s)

# --- Options ---

prefix=/usr/local
action=install
jobs=
without=
seconds=60

set_action() {
    [ "$action" = install ] || [ "$action" = "$1" ] || fail $EXIT_USAGE "--$action and --$1 do not go together"
    action=$1
}

while [ $# -gt 0 ]; do
    case $1 in
        --test | --sanitize | --tsan | --uninstall) set_action "${1#--}" ;;
        --fuzz)
            set_action fuzz
            case ${2:-} in
                [0-9]*) seconds=$2 && shift ;;
            esac
            ;;
        --prefix | --jobs)
            [ $# -ge 2 ] || fail $EXIT_USAGE "$1 needs a value; see --help"
            option=${1#--}
            shift
            eval "$option=\$1"
            ;;
        --without)
            [ $# -ge 2 ] || fail $EXIT_USAGE "--without needs a value; see --help"
            without="$without $2"
            shift
            ;;
        --prefix=*) prefix=${1#*=} ;;
        --jobs=*) jobs=${1#*=} ;;
        -h | --help) usage && exit 0 ;;
        *) fail $EXIT_USAGE "unknown option \"$1\"; see --help" ;;
    esac
    shift
done

[ -n "$prefix" ] || fail $EXIT_USAGE "--prefix needs a folder"
# The prefix is written into make rules, a .pc file and lines to paste into a shell.
case $prefix in
    *[!A-Za-z0-9/._+@-]*) fail $EXIT_USAGE "--prefix may hold letters, digits and /._+@- only: \"$prefix\"" ;;
    /*) ;;
    *) prefix=$PWD/$prefix ;;
esac
[ "$prefix" = / ] || prefix=${prefix%/}

[ -n "$jobs" ] || jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
case $jobs in
    *[!0-9]* | 0 | '') fail $EXIT_USAGE "--jobs needs a number of at least 1, not \"$jobs\"" ;;
esac

for name in $without; do
    awk -v name="$name" '$1 == name && $4 == "optional" { found = 1 } END { exit !found }' "$engine/dependencies" ||
        fail $EXIT_USAGE "--without \"$name\": CEngine/dependencies has no optional library of that name"
done

case $seconds in
    *[!0-9]* | 0) fail $EXIT_USAGE "--fuzz needs a number of seconds of at least 1, not \"$seconds\"" ;;
esac

# --- Rights ---

is_root() { [ "$(id -u)" -eq 0 ]; }

# can_sudo -- true if sudo may be asked: it may prompt at a terminal only
can_sudo() { have sudo && { [ -t 0 ] || sudo -n true 2>/dev/null; }; }

# privileged -- run a command as root, by sudo if need be
privileged() {
    if is_root; then
        "$@"
    elif can_sudo; then
        say "  sudo $*"
        sudo "$@"
    else
        return 1
    fi
}

# writable -- true if a folder, or the nearest one above it that exists, can be written to
writable() {
    folder=$1
    while [ ! -e "$folder" ]; do folder=$(dirname "$folder"); done
    [ -d "$folder" ] && [ -w "$folder" ]
}

prefix_writable() {
    writable "$prefix/lib" && writable "$prefix/lib/pkgconfig" && writable "$prefix/include"
}

require_rights() {
    prefix_writable || can_sudo || fail $EXIT_RIGHTS "no right to write to $prefix, and no sudo.
    Choose a folder of your own, for example:
        ./build-engine.sh --prefix \"\$HOME/.local\""
}

# in_prefix -- run a command that writes to the prefix
in_prefix() {
    if prefix_writable; then "$@"; else privileged "$@"; fi
}

# --- Packages ---

# column -- the n-th column of CEngine/dependencies, for the given pkg-config modules or for all
column() {
    number=$1
    shift
    awk -v n="$number" -v only=" $* " '
        !/^#/ && NF && (only == "  " || index(only, " " $1 " ")) { print $n }' "$engine/dependencies"
}

# found -- true if a library of CEngine/dependencies is there; libstemmer has no file for pkg-config
found() {
    if [ "$1" = libstemmer ]; then
        folder=$(! have brew || brew --prefix snowball)
        # shellcheck disable=SC2086
        echo '#include <libstemmer.h>' | ${CC:-cc} ${folder:+-I$folder/include} -E - >/dev/null 2>&1
    else
        pkg-config --exists "$1"
    fi
}

# missing -- the modules that pkg-config does not find: "required" of those that must be there, which those of the tests
# are when tests are built; "optional" of those that the engine can do without
missing() {
    for module in $(awk -v kind="$1" -v action="$action" '!/^#/ && NF {
        required = $4 == "" || ($NF == "tests" && action != "install")
        if (kind == "required" ? required : !required && $4 == "optional") print $1
    }' "$engine/dependencies"); do
        if [ "$1" = optional ]; then
            case " $without " in *" $module "*) continue ;; esac
        fi
        found "$module" || echo "$module"
    done
}

# install_packages -- install packages by the system's package manager, or fail with what to do
install_packages() {
    say "Installing packages: $*"
    if have apt-get; then
        is_root || can_sudo || fail $EXIT_PACKAGE "these packages are missing, and only root may install them: $*
    Ask an administrator for:
        apt-get install $*"
        apt="env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 -q"
        log=$products/apt.log
        mkdir -p "$products"
        # The package lists may be missing or too old: only then is it worth the time to fetch them.
        # shellcheck disable=SC2086
        privileged $apt install -y --no-install-recommends "$@" >"$log" 2>&1 ||
            { privileged $apt update && privileged $apt install -y --no-install-recommends "$@"; } >"$log" 2>&1 ||
            { grep '^[EW]:' "$log" | tail -n 8 >&2 || true; fail $EXIT_PACKAGE "apt-get could not install: $*
    Is there a network? What apt-get said is in $log"; }
    elif have brew; then
        brew install "$@" || fail $EXIT_PACKAGE "brew could not install: $*"
        use_brew_folders
    else
        fail $EXIT_PACKAGE "there is neither apt-get nor brew here. Install these by hand (Debian's names): $*"
    fi
}

# use_brew_folders -- let pkg-config see the formulas that Homebrew does not link into its prefix
use_brew_folders() {
    have brew || return 0
    for formula in $(column 3); do
        folder=$(brew --prefix)/opt/$formula/lib/pkgconfig
        [ ! -d "$folder" ] || PKG_CONFIG_PATH=$folder${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
    done
    export PKG_CONFIG_PATH="${PKG_CONFIG_PATH:-}"
}

# compiles -- true if a compiler command makes a program, with the given flags
compiles() {
    echo '#include <stdio.h>
    int main(void) { return puts("") < 0; }' >"$products/try.c"
    # shellcheck disable=SC2086
    "$@" "$products/try.c" -o "$products/try" >"$products/try.log" 2>&1
}

# choose_compiler -- set CC to the first compiler that works with the given flags
choose_compiler() {
    mkdir -p "$products" 2>/dev/null || fail $EXIT_BUILD "cannot create $products"
    if [ -n "${CC:-}" ]; then
        # shellcheck disable=SC2086
        compiles $CC "$@" || { cat "$products/try.log" >&2 && fail $EXIT_COMPILER "the compiler that CC names does not work: $CC${*:+ $*}"; }
        return
    fi
    for CC in cc gcc clang; do
        if have "$CC" && compiles "$CC" "$@"; then return; fi
    done
    unset CC
    return 1
}

require_compiler() {
    choose_compiler "$@" && return
    if [ "$system" = Darwin ]; then
        fail $EXIT_COMPILER "there is no C compiler. Install Apple's command line tools: xcode-select --install"
    fi
    (install_packages gcc libc6-dev) || fail $EXIT_COMPILER "there is no C compiler; set CC to the one to use, or install gcc"
    choose_compiler "$@" || fail $EXIT_COMPILER "there is no C compiler that works${*:+ with $*}, even after installing gcc"
}

require_packages() {
    wanted=
    have make || wanted="$wanted make"
    if ! have pkg-config; then
        if have brew; then wanted="$wanted pkgconf"; else wanted="$wanted pkg-config"; fi
    fi
    # shellcheck disable=SC2086
    [ -z "$wanted" ] || install_packages $wanted

    use_brew_folders
    if have apt-get; then number=2; else number=3; fi
    modules=$(missing required)
    # shellcheck disable=SC2046,SC2086
    [ -z "$modules" ] || install_packages $(column $number $modules)
    for module in $modules; do
        pkg-config --exists "$module" || fail $EXIT_PACKAGE "pkg-config does not find \"$module\", though its package is installed.
    PKG_CONFIG_PATH=${PKG_CONFIG_PATH:-} PKG_CONFIG_LIBDIR=${PKG_CONFIG_LIBDIR:-}"
    done
    modules=$(missing optional)
    # shellcheck disable=SC2046,SC2086
    if [ -n "$modules" ] && ! (install_packages $(column $number $modules)) 2>/dev/null; then
        say "Not installed, so the engine is built without them: $modules"
    fi
    use_brew_folders
}

# require_icu -- install what the Swift tests need next to the engine: the trait TansuSync orders text as ICU does
require_icu() {
    pkg-config --exists icu-i18n && return
    if have apt-get; then install_packages libicu-dev; else install_packages icu4c; fi
}

# --- Build, install, test ---

# engine_make -- run the engine's Makefile
engine_make() {
    make -C "$engine" --no-print-directory -j "$jobs" "CC=$CC" "PREFIX=$prefix" "WITHOUT=$without" "$@"
}

build() {
    engine_make all || fail $EXIT_BUILD "the engine does not build with $CC"
}

refresh_linker_cache() {
    [ "$system" = Linux ] || return 0
    ldconfig=$(command -v ldconfig || echo /sbin/ldconfig)
    [ -x "$ldconfig" ] || return 0
    # A prefix of one's own is not in the loader's list: no reason to ask for a password.
    if is_root || { [ "$prefix" = /usr/local ] && can_sudo; }; then privileged "$ldconfig"; fi
}

# loader_finds -- true if programs find the installed library with no environment variable
loader_finds() {
    [ "$system" = Linux ] || return 0
    ldconfig=$(command -v ldconfig || echo /sbin/ldconfig)
    [ -x "$ldconfig" ] && "$ldconfig" -p 2>/dev/null | grep -q "=> $prefix/lib/libtansu\.so\."
}

# print_environment -- the lines that a prefix of one's own needs
print_environment() {
    # SwiftPM looks in /usr/local itself, whatever pkg-config's own folders are.
    if [ "$prefix" != /usr/local ] && [ "$prefix" != /usr ]; then
        lines="    export PKG_CONFIG_PATH=\"$prefix/lib/pkgconfig\${PKG_CONFIG_PATH:+:\$PKG_CONFIG_PATH}\""
    else
        lines=
    fi
    if ! loader_finds; then
        lines="${lines:+$lines
}    export LD_LIBRARY_PATH=\"$prefix/lib\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}\""
    fi
    [ -z "$lines" ] || say "Before you build with Swift, set where the engine is:
$lines"
}

# version -- the version that the public header names
version() {
    awk '$2 ~ /^TANSU_VERSION_(MAJOR|MINOR|PATCH)$/ { v = v sep $3; sep = "." } END { print v }' "$engine/include/tansu.h"
}

# outdate_swift -- make SwiftPM compile again what was compiled with the header before: it does not track the headers
# of a system library, and a program would go on with the old layout of a struct
outdate_swift() {
    find "$root/Sources/Tansu" -name '*.swift' -exec touch {} + 2>/dev/null || true
}

install_engine() {
    require_rights
    require_packages
    require_compiler
    build
    if engine_make check-installed 2>/dev/null; then
        say "up to date: libtansu $(version) in $prefix"
    else
        cmp -s "$engine/include/tansu.h" "$prefix/include/tansu.h" || outdate_swift
        in_prefix make -C "$engine" --no-print-directory install-files "CC=$CC" "PREFIX=$prefix" "WITHOUT=$without" ||
            fail $EXIT_RIGHTS "could not write the library to $prefix"
        refresh_linker_cache
        say "installed: libtansu $(version) in $prefix"
    fi
    print_environment
}

# use_fitting_linker -- link by lld what Swift's clang instruments: GNU gold, its default, warns hundreds of times
use_fitting_linker() {
    [ "$system" = Linux ] || return 0
    case $($CC --version 2>/dev/null) in *clang*) ;; *) return 0 ;; esac
    # shellcheck disable=SC2086
    if compiles $CC -fuse-ld=lld "$@"; then export LDFLAGS="${LDFLAGS:+$LDFLAGS }-fuse-ld=lld"; fi
}

# run_tests -- build and run the C tests in one variant: release, sanitize or tsan
run_tests() {
    say "C tests ($1, $CC)"
    engine_make "VARIANT=$1" tests || fail $EXIT_BUILD "the tests do not build with $CC"
    engine_make "VARIANT=$1" check || fail $EXIT_TEST "a C test failed"
}

# require_fuzzer -- set CC to a clang that has libFuzzer
require_fuzzer() {
    mkdir -p "$products" 2>/dev/null || fail $EXIT_BUILD "cannot create $products"
    for CC in ${CC:+"$CC"} clang; do
        # shellcheck disable=SC2086
        if compiles $CC -fsanitize=fuzzer-no-link,address,undefined && fuzzes $CC; then return; fi
    done
    fail $EXIT_COMPILER "fuzzing needs a clang with libFuzzer (-fsanitize=fuzzer), and \"$CC\" is none. On Debian and Ubuntu
    it is in the packages clang and libclang-rt-dev; Swift's toolchain for Linux has one (usr/bin/clang); Apple's clang
    has none: there, brew install llvm, and set CC to its clang"
}

# fuzzes -- true if a compiler command links a fuzz target
fuzzes() {
    echo 'int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size);
    int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size) { return data == 0 && size != 0; }' >"$products/try.c"
    # shellcheck disable=SC2086
    "$@" ${LDFLAGS:-} -fsanitize=fuzzer,address,undefined "$products/try.c" -o "$products/try" >"$products/try.log" 2>&1
}

# run_fuzzers -- build every fuzz target and run each for that number of seconds
run_fuzzers() {
    say "fuzz targets ($seconds s each, $CC)"
    engine_make VARIANT=fuzz fuzzers || fail $EXIT_BUILD "the fuzz targets do not build with $CC"
    engine_make VARIANT=fuzz "FUZZ_SECONDS=$seconds" fuzz ||
        fail $EXIT_TEST "a fuzz target found something: the input is in .build-engine/fuzz; run the target with it to see it again"
}

uninstall() {
    if [ ! -e "$prefix/include/tansu.h" ] && [ ! -e "$prefix/lib/pkgconfig/tansu.pc" ]; then
        say "libtansu is not installed in $prefix"
        return
    fi
    require_rights
    have make || fail $EXIT_PACKAGE "make is missing: install it, or run --uninstall where the library was built"
    in_prefix make -C "$engine" --no-print-directory uninstall "PREFIX=$prefix" ||
        fail $EXIT_RIGHTS "could not remove the library from $prefix"
    refresh_linker_cache
    say "removed: libtansu from $prefix"
}

case $action in
    install) install_engine ;;
    test)
        install_engine
        require_icu
        run_tests release
        ;;
    sanitize)
        require_packages
        require_compiler -fsanitize=address,undefined
        use_fitting_linker -fsanitize=address,undefined
        run_tests sanitize
        ;;
    tsan)
        require_packages
        require_compiler -fsanitize=thread
        use_fitting_linker -fsanitize=thread
        run_tests tsan
        ;;
    fuzz)
        require_packages
        require_fuzzer
        use_fitting_linker -fsanitize=address,undefined
        run_fuzzers
        ;;
    uninstall) uninstall ;;
esac
