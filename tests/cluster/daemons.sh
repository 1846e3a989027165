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

# Print the first of four ports (below those of clients) that no other cluster on this machine has. A link to the
# cluster's folder claims them until `release_ports`. A number made of a process ID would not do: there are more IDs.
claim_ports() {  # FOLDER
    local number block
    for number in $(seq 3000); do
        block=$((($$ + number) % 3000))
        if ln -sT "$1" "/tmp/cluster-ports-$block" 2> /dev/null; then
            echo $((20000 + block * 4))
            return 0
        fi
    done
    echo "no ports are left; remove /tmp/cluster-ports-*" >&2
    return 1
}

release_ports() {  # FOLDER
    find /tmp -maxdepth 1 -name 'cluster-ports-*' -lname "$1" -delete
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
