#!/bin/bash
# slurm.sh start|stop FOLDER [DAEMON]
#
# A single-machine Slurm with two nodes, n1 and n2, run by the user who starts it. All its files are in FOLDER; clients
# source FOLDER/environment. With DAEMON (slurmctld, n1, n2), only that daemon is started or stopped.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=daemons.sh
. "$here/daemons.sh"

action=${1:?start or stop}
folder=$(mkdir -p "${2:?a folder}" && cd "$2" && pwd)
part=${3:-all}
export SLURM_CONF=$folder/slurm.conf

configure() {
    mkdir -p "$folder"/{munge,state,spool-n1,spool-n2,log}
    chmod 711 "$folder/munge"
    [ -e "$folder/munge/key" ] || (umask 077 && head -c 128 /dev/urandom > "$folder/munge/key")
    # Each cluster has its own ports, because several may run side by side.
    local port
    port=$(claim_ports "$folder") || exit 1
    sed -e "s#@FOLDER@#$folder#g" -e "s#@HOST@#$(hostname)#g" -e "s#@USER@#$(id -un)#g" \
        -e "s#@CONTROLLER@#$port#" -e "s#@N1@#$((port + 1))#" -e "s#@N2@#$((port + 2))#" \
        "$here/slurm.conf.template" > "$SLURM_CONF"
    echo "export SLURM_CONF=$SLURM_CONF" > "$folder/environment"
}

start_munge() {
    is_up "$folder/munge/pid" munged && return
    # --force: a parent folder may be writable by others
    munged --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munge/pid" \
        --log-file="$folder/log/munged.log" --seed-file="$folder/munge/seed" 2>> "$folder/log/munged.log"
}

start_controller() {
    is_up "$folder/slurmctld.pid" slurmctld || slurmctld
    wait_until 120 scontrol ping
}

start_node() {
    is_up "$folder/slurmd.$1.pid" slurmd || slurmd -N "$1"
}

nodes_are_up() {
    [ "$(sinfo --noheader --Node --states=idle,mixed,alloc --format=%N | sort -u | wc -l)" = 2 ]
}

case $action-$part in
start-all)
    [ -e "$SLURM_CONF" ] || configure
    start_munge
    start_controller
    start_node n1
    start_node n2
    wait_until 240 nodes_are_up
    ;;
start-slurmctld) start_controller ;;
start-n?) start_node "$part" ;;
stop-slurmctld) stop_daemon "$folder/slurmctld.pid" slurmctld ;;
stop-n?) stop_daemon "$folder/slurmd.$part.pid" slurmd ;;
stop-all)
    stop_daemon "$folder/slurmd.n1.pid" slurmd
    stop_daemon "$folder/slurmd.n2.pid" slurmd
    stop_daemon "$folder/slurmctld.pid" slurmctld
    stop_daemon "$folder/munge/pid" munged
    release_ports "$folder"
    ;;
*)
    echo "usage: $0 start|stop FOLDER [slurmctld|n1|n2]" >&2
    exit 2
    ;;
esac
