#!/usr/bin/env bash
# A throw-away PostgreSQL on a unix socket. Sourced, it offers private_postgres_start and private_postgres_stop;
# called as a program it runs the given command with such a server:
#
#     cmake/private_postgres.sh COMMAND [ARGUMENT...]
#
# The server is named by PAWL_DSN. A PAWL_DSN that is set already names a server of the user's, which is used and
# left alone. PAWL_PG_BIN names the folder of initdb and postgres when they are not where they usually are.

private_postgres_dir=
private_postgres_pid=

private_postgres_bin_dir() {
    local dir versions=(/usr/lib/postgresql/*/bin /usr/pgsql-*/bin) places=("${PAWL_PG_BIN-}")
    if dir=$(command -v initdb 2>/dev/null); then
        places+=("$(dirname "$(readlink -f "$dir")")")
    fi
    if dir=$(pg_config --bindir 2>/dev/null); then
        places+=("$dir") # may be that of a version without a server
    fi
    while IFS= read -r dir; do
        places+=("$dir")
    done < <(printf '%s\n' "${versions[@]}" | sort -rV)
    places+=(/usr/bin /usr/libexec/postgresql* /opt/homebrew/opt/postgresql@*/bin
        /usr/local/opt/postgresql@*/bin /usr/local/bin)
    for dir in "${places[@]}"; do
        if [[ -n $dir && -x $dir/initdb && -x $dir/postgres ]]; then
            printf '%s\n' "$dir"
            return 0
        fi
    done
}

# Directories of servers whose script was killed. The name holds the script's process id, because a server that is
# being initialised has no postmaster.pid yet.
private_postgres_sweep() {
    local dir owner server
    for dir in /tmp/pawlpg-*; do
        [[ -d $dir && ( -O $dir || $EUID -eq 0 ) ]] || continue
        owner=${dir#/tmp/pawlpg-}
        owner=${owner%%-*}
        [[ $owner =~ ^[0-9]+$ ]] || continue
        if [[ -e /proc/$owner ]] || kill -0 "$owner" 2>/dev/null; then
            continue
        fi
        server=$(head -n 1 "$dir/data/postmaster.pid" 2>/dev/null || true)
        if [[ $server =~ ^[0-9]+$ ]] && { [[ -e /proc/$server ]] || kill -0 "$server" 2>/dev/null; }; then
            continue
        fi
        rm -rf "$dir"
    done
}

# private_postgres_start [durable]: sets and exports PAWL_DSN. With "durable" the server flushes each commit, as it
# does in production; otherwise it does not, and a crash of the machine may lose what nobody will miss.
# shellcheck disable=SC2120 # only the scripts that source this pass "durable"
private_postgres_start() {
    if [[ -n ${PAWL_DSN-} ]]; then
        return 0
    fi

    local bin flushing=(-c fsync=off -c synchronous_commit=off -c full_page_writes=off)
    if [[ ${1-} == durable ]]; then
        flushing=()
    fi
    bin=$(private_postgres_bin_dir)
    if [[ -z $bin ]]; then
        printf 'no initdb and postgres found: install the PostgreSQL server or set PAWL_PG_BIN\n' >&2
        return 1
    fi

    private_postgres_sweep
    # A socket's path is limited to 107 bytes, so TMPDIR, which may be long, is not followed.
    private_postgres_dir=$(mktemp -d "/tmp/pawlpg-$$-XXXXXX")

    # Neither program runs as root. The death signal has to be set after the user is changed, which setpriv does; it
    # ends the server even when this script is killed outright.
    local drop=() leash=()
    if setpriv --help 2>/dev/null | grep -q pdeathsig; then
        leash=(setpriv --pdeathsig QUIT)
    fi
    if ((EUID == 0)); then
        local user=postgres
        id "$user" >/dev/null 2>&1 || user=nobody
        drop=(setpriv "--reuid=$user" "--regid=$(id -g "$user")" --init-groups)
        leash=("${drop[@]}" --pdeathsig QUIT)
        chown "$user" "$private_postgres_dir"
    fi

    if ! (cd / && "${drop[@]}" "$bin/initdb" -D "$private_postgres_dir/data" -A trust -U postgres -N -E UTF8 \
        --locale=C --no-instructions --wal-segsize=16) >"$private_postgres_dir/initdb.log" 2>&1; then
        cat "$private_postgres_dir/initdb.log" >&2
        return 1
    fi

    # Its own session keeps a Ctrl-C away from the server until the program that uses it has ended.
    local apart=()
    ! command -v setsid >/dev/null 2>&1 || apart=(setsid)
    "${apart[@]}" "${leash[@]}" "$bin/postgres" -D "$private_postgres_dir/data" -p 5432 \
        -c listen_addresses= -c "unix_socket_directories=$private_postgres_dir" \
        -c max_connections=200 -c shared_buffers=256MB -c max_wal_size=4GB -c timezone=UTC \
        "${flushing[@]}" </dev/null >"$private_postgres_dir/server.log" 2>&1 &
    private_postgres_pid=$!
    disown "$private_postgres_pid" # its end is polled for, and not a message of the shell's

    local tries
    for ((tries = 0; tries < 1500; ++tries)); do
        if grep -q '^ready' "$private_postgres_dir/data/postmaster.pid" 2>/dev/null; then
            export PAWL_DSN="host=$private_postgres_dir port=5432 user=postgres dbname=postgres"
            return 0
        fi
        kill -0 "$private_postgres_pid" 2>/dev/null || break
        sleep 0.02
    done
    printf 'the private PostgreSQL did not start:\n' >&2
    cat "$private_postgres_dir/server.log" >&2
    return 1
}

private_postgres_stop() {
    if [[ -n $private_postgres_pid ]]; then
        # Fast, then immediate, then by force: five seconds each.
        local signal tries
        for signal in INT QUIT KILL; do
            kill -s "$signal" "$private_postgres_pid" 2>/dev/null || break
            for ((tries = 0; tries < 250; ++tries)); do
                kill -0 "$private_postgres_pid" 2>/dev/null || break 2
                sleep 0.02
            done
        done
        private_postgres_pid=
        unset PAWL_DSN
    fi
    if [[ -n $private_postgres_dir ]]; then
        rm -rf "$private_postgres_dir"
        private_postgres_dir=
    fi
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
    set -euo pipefail
    # shellcheck source-path=SCRIPTDIR source=setup.sh
    source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
    trap private_postgres_stop EXIT
    trap 'stop_child INT; exit 130' INT
    trap 'stop_child TERM; exit 143' TERM
    private_postgres_start ""
    run "$@"
fi
