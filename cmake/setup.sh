# shellcheck shell=bash
# Sourced by the run scripts: finds what a build needs, installs what is missing, and runs programs so that Ctrl-C
# and a killed script leave nothing behind. The caller has `set -euo pipefail` and calls setup_restore when it exits.

setup_cluster_conf=/etc/postgresql-common/createcluster.d/pawl-setup.conf
setup_made_conf=no
setup_as_root=()

say() { printf '== %s\n' "$*" >&2; }

# ---- what is there ------------------------------------------------------------------------------------------------

setup_has_command() { command -v "$1" >/dev/null 2>&1; }

setup_has_header() {
    local found
    # The preprocessor answers, so that every place the compiler looks in counts; libpq's headers stand apart.
    found=$(printf '#if __has_include(<%s>)\nfound\n#endif\n' "$1" |
        "$(setup_compiler)" -E -P -x c++ ${setup_pq_include:+"-I$setup_pq_include"} - 2>/dev/null) || return 1
    [[ $found == *found* ]]
}

setup_compiler() {
    local name
    for name in "${CXX-}" g++ clang++ c++; do
        if [[ -n $name ]] && setup_has_command "${name%% *}"; then
            printf '%s\n' "${name%% *}"
            return 0
        fi
    done
    return 1
}

setup_new_enough_cmake() {
    local version
    version=$(cmake --version 2>/dev/null | sed -n '1s/[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p')
    [[ -n $version ]] || return 1
    ((${version%%.*} > 3 || (${version%%.*} == 3 && ${version#*.} >= 24)))
}

setup_has_sanitizers() {
    local resources
    resources=$(clang++ -print-resource-dir 2>/dev/null) || return 1
    [[ -n $(find -L "$resources" -name 'libclang_rt.*san*' -print -quit 2>/dev/null) ]]
}

# setup_has PACKAGE: what PACKAGE brings is there, whoever brought it.
setup_has() {
    case $1 in
        g++) setup_compiler >/dev/null ;;
        cmake) setup_new_enough_cmake ;;
        ninja-build) setup_has_command ninja ;;
        pkg-config) setup_has_command pkg-config ;;
        libpqxx-dev) setup_has_header pqxx/pqxx ;;
        libpq-dev) setup_has_header libpq-fe.h ;;
        libfmt-dev) setup_has_header fmt/format.h ;;
        libspdlog-dev) setup_has_header spdlog/spdlog.h ;;
        nlohmann-json3-dev) setup_has_header nlohmann/json.hpp ;;
        libgtest-dev) setup_has_header gtest/gtest.h ;;
        libgmock-dev) setup_has_header gmock/gmock.h ;;
        libbenchmark-dev) setup_has_header benchmark/benchmark.h ;;
        postgresql) [[ -n $(private_postgres_bin_dir) ]] ;;
        pgbouncer) setup_has_command pgbouncer || [[ -x /usr/sbin/pgbouncer ]] ;;
        clang) setup_has_command clang++ ;;
        libclang-rt-dev) setup_has_sanitizers ;;
        clang-format | clang-tidy) setup_has_command "$1" ;;
        *) return 1 ;;
    esac
}

# ---- installing what is not ---------------------------------------------------------------------------------------

# setup_packages PACKAGE...: afterwards everything is there, or the script has ended with status 3 and a line to run.
setup_packages() {
    local package missing=()
    setup_pq_include=$(pg_config --includedir 2>/dev/null || true)
    for package in "$@"; do
        setup_has "$package" || missing+=("$package")
    done
    if ((${#missing[@]} == 0)); then
        return 0
    fi

    if ! setup_has_command apt-get; then
        say "missing here, by their Debian names: ${missing[*]}"
        say "there is no apt-get to install them with; install them and run this again"
        exit 3
    fi

    local line="apt-get install --yes --no-install-recommends ${missing[*]}"
    if ((EUID == 0)); then
        setup_as_root=()
    elif setup_has_command sudo && { [[ -t 0 ]] || sudo -n true 2>/dev/null; }; then
        setup_as_root=(sudo)
        line="sudo $line"
    else
        setup_refuse "${missing[*]}"
    fi

    say "missing here: ${missing[*]}"
    say "installing with: $line"
    if ((EUID != 0)) && ! sudo -v; then
        setup_refuse "${missing[*]}"
    fi
    setup_install "${missing[@]}"

    setup_pq_include=$(pg_config --includedir 2>/dev/null || true)
    hash -r
    for package in "${missing[@]}"; do
        if ! setup_has "$package"; then
            say "$package is installed, and yet what pawl needs from it cannot be found or is too old"
            exit 3
        fi
    done
}

setup_refuse() {
    say "missing here: $1"
    say "installing them needs root; run this line, then this script again:"
    printf 'sudo apt-get install --yes --no-install-recommends %s\n' "$1" >&2
    exit 3
}

setup_install() {
    local status=0
    setup_keep_cluster_away "$@"
    setup_apt "$@" || status=$?
    setup_restore
    if ((status != 0)); then
        say "apt-get failed with status $status"
        exit 3
    fi
}

setup_apt() {
    # A fresh image has no package lists, and lists of another day may name files that are gone.
    "${setup_as_root[@]}" apt-get update -qq || say "apt-get update failed; going on with the lists that are there"
    "${setup_as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install --yes --no-install-recommends -qq "$@" </dev/null >&2
}

# Debian creates and starts a system cluster when the server package is first installed. pawl starts its own private
# one, so none is wanted. A machine that has the package already is left as it is.
setup_keep_cluster_away() {
    case " $* " in *" postgresql "*) ;; *) return 0 ;; esac
    setup_made_conf=yes
    "${setup_as_root[@]}" mkdir -p "${setup_cluster_conf%/*}"
    printf 'create_main_cluster = false\n' | "${setup_as_root[@]}" tee "$setup_cluster_conf" >/dev/null
}

setup_restore() {
    if [[ $setup_made_conf == yes ]]; then
        setup_made_conf=no
        "${setup_as_root[@]}" rm -f "$setup_cluster_conf" || true
        "${setup_as_root[@]}" rmdir --ignore-fail-on-non-empty "${setup_cluster_conf%/*}" 2>/dev/null || true
    fi
}

# ---- running ------------------------------------------------------------------------------------------------------

setup_child=

# run COMMAND...: in the foreground as far as the user can tell, but the script stays able to act on a signal, and
# the command is told to end when the script is killed.
run() {
    local status=0 leash=(exec)
    if declare -F "$1" >/dev/null; then
        leash=() # a function of the script itself
    elif setpriv --help 2>/dev/null | grep -q pdeathsig; then
        leash=(exec setpriv --pdeathsig TERM)
    fi
    # A shell without job control starts background commands with SIGINT ignored.
    (trap - INT QUIT TERM EXIT && "${leash[@]}" "$@") <&0 &
    setup_child=$!
    wait "$setup_child" || status=$?
    setup_child=
    return "$status"
}

# stop_child SIGNAL: Ctrl-C has reached the command too, so it gets a moment to end by itself before it is told again.
stop_child() {
    local tries
    [[ -n $setup_child ]] || return 0
    # Never `wait` here: a signal that interrupts the first wait can lose the status, and a second one would not end.
    if [[ $1 != INT ]]; then
        kill -s "$1" "$setup_child" 2>/dev/null || true
    fi
    for ((tries = 0; tries < 250; ++tries)); do
        kill -0 "$setup_child" 2>/dev/null || break
        if ((tries == 25)); then
            kill -s TERM "$setup_child" 2>/dev/null || true
        fi
        sleep 0.1
    done
    kill -s KILL "$setup_child" 2>/dev/null || true
    setup_child=
}
