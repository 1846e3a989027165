# Shell functions for daemons without systemd; each writes its process ID to a file. To be sourced.

# Daemons are in sbin, which is not on the PATH of ordinary users.
PATH=$PATH:/usr/sbin:/sbin

# A file is only valid if its process has the right name, because files outlive processes.
is_up() {  # FILE NAME
    local process
    process=$(cat "$1" 2> /dev/null) && [ "$(cat "/proc/$process/comm" 2> /dev/null)" = "$2" ]
}

stop_daemon() {  # FILE NAME
    local process
    is_up "$1" "$2" || return 0
    process=$(cat "$1")
    kill "$process"
    # a minute, because the processors may be busy
    for _ in $(seq 240); do
        [ -d "/proc/$process" ] || return 0
        sleep 0.25
    done
    kill -9 "$process"
}

wait_until() {  # SECONDS COMMAND...
    local seconds=$1
    shift
    for _ in $(seq $((seconds * 5))); do
        "$@" > /dev/null 2>&1 && return 0
        sleep 0.2
    done
    echo "timeout after $seconds s: $*" >&2
    return 1
}
