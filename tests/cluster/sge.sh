#!/bin/bash
# sge.sh start|stop FOLDER [DAEMON]
#
# A single-machine Grid Engine run by the user who starts it (who needs a login shell): queue all.q, parallel
# environment smp, requestable complex h_vmem. All its files are in FOLDER; clients source FOLDER/environment. With
# DAEMON (sge_qmaster, sge_execd), only that daemon is started or stopped.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=daemons.sh
. "$here/daemons.sh"

action=${1:?start or stop}
folder=$(mkdir -p "${2:?a folder}" && cd "$2" && pwd)
part=${3:-all}
slots=4
host=$(hostname)
installed=/var/lib/gridengine
programs=/usr/lib/gridengine

initialize() {
    # Several may run side by side, so each has its own ports, its own group IDs, which identify tasks, and its own
    # folder for temporary files, which are named after task numbers.
    local port groups common=$folder/default/common administrator=none
    port=$(claim_ports "$folder") || exit 1
    groups=$((1000000 + (port - 20000) / 4 * 1000))
    # Daemons started by root run as the administrator; those of another user trust only that user.
    [ "$(id -u)" = 0 ] || administrator=$(id -un)
    mkdir -p "$common" "$folder"/{qmaster/job_scripts,execd,spooldb,run,tmp}
    ln -sfn /usr/share/gridengine/util "$folder/util"
    cp -a "$installed/bin" "$installed/lib" "$installed/utilbin" "$folder/"
    # The programs themselves: Debian's usual paths have scripts that first determine the architecture with the C
    # preprocessor. Also sge_shepherd, which starts every task.
    cat > "$folder/environment" << END
export PATH="$programs:\$PATH"
export SGE_ROOT=$folder SGE_CELL=default SGE_QMASTER_PORT=$port SGE_EXECD_PORT=$((port + 1))
END
    # shellcheck disable=SC1091
    . "$folder/environment"
    sed -e "s#^admin_user .*#admin_user $administrator#" -e "s#/var/spool/gridengine#$folder#" \
        /usr/share/gridengine/default-bootstrap > "$common/bootstrap"
    echo "$host" > "$common/act_qmaster"
    # If 127.0.0.1 resolves to localhost, clients would be rejected otherwise, as coming from another host.
    echo "$host localhost" > "$common/host_aliases"
    sed -e "s#/var/spool/gridengine#$folder#" -e "s/^min_uid .*/min_uid 0/" -e "s/^min_gid .*/min_gid 0/" \
        -e "s/^load_report_time .*/load_report_time 00:00:05/" -e "s/^administrator_mail .*/administrator_mail none/" \
        -e "s#^shepherd_cmd .*#shepherd_cmd $programs/sge_shepherd#" \
        -e "s/^gid_range .*/gid_range $groups-$((groups + 999))/" \
        -e "s/flush_time=00:00:15/flush_time=00:00:01 accounting_flush_time=00:00:00/" \
        /usr/share/gridengine/default-configuration > "$folder/configuration"
    "$programs/spoolinit" berkeleydb libspoolb "$folder/spooldb" init
    "$programs/spooldefaults" configuration "$folder/configuration"
    "$programs/spooldefaults" complexes /usr/share/gridengine/util/resources/centry
    "$programs/spooldefaults" usersets /usr/share/gridengine/util/resources/usersets
    "$programs/spooldefaults" managers "$(id -un)"
}

# Needs a running qmaster.
configure() {
    local file=$folder/change
    export SGE_SINGLE_LINE=1
    # As fast as possible, because tests wait for every start.
    qconf -ssconf | sed -e 's/^schedule_interval .*/schedule_interval 0:0:2/' \
        -e 's/^flush_submit_sec .*/flush_submit_sec 1/' -e 's/^flush_finish_sec .*/flush_finish_sec 1/' \
        -e 's/^job_load_adjustments .*/job_load_adjustments NONE/' \
        -e 's/^load_adjustment_decay_time .*/load_adjustment_decay_time 0:0:0/' > "$file"
    qconf -Msconf "$file"
    qconf -as "$host"
    printf '%s\n' "hostname $host" 'load_scaling NONE' 'complex_values NONE' 'user_lists NONE' 'xuser_lists NONE' \
        'projects NONE' 'xprojects NONE' 'usage_scaling NONE' 'report_variables NONE' > "$file"
    qconf -Ae "$file"
    printf 'group_name @allhosts\nhostlist %s\n' "$host" > "$file"
    qconf -Ahgrp "$file"
    # shellcheck disable=SC2016
    printf '%s\n' 'pe_name smp' 'slots 999' 'user_lists NONE' 'xuser_lists NONE' 'start_proc_args /bin/true' \
        'stop_proc_args /bin/true' 'allocation_rule $pe_slots' 'control_slaves FALSE' 'job_is_first_task TRUE' \
        'urgency_slots min' 'accounting_summary FALSE' 'qsort_args NONE' > "$file"
    qconf -Ap "$file"
    qconf -sq | sed -e 's/^qname .*/qname all.q/' -e 's/^hostlist .*/hostlist @allhosts/' \
        -e 's/^load_thresholds .*/load_thresholds NONE/' -e 's/^pe_list .*/pe_list smp/' \
        -e "s/^slots .*/slots $slots/" -e "s#^tmpdir .*#tmpdir $folder/tmp#" -e 's#^shell .*#shell /bin/bash#' \
        -e 's/^shell_start_mode .*/shell_start_mode unix_behavior/' > "$file"
    qconf -Aq "$file"
    rm "$file"
}

start_qmaster() {
    is_up "$folder/qmaster/qmaster.pid" sge_qmaster || sge_qmaster
    wait_until 120 qconf -sh
}

start_execd() {
    # sge_execd closes all possible file descriptors twice per task.
    is_up "$SGE_EXECD_PIDFILE" sge_execd || (ulimit -n 1024 && sge_execd)
    wait_until 240 queue_is_up
}

queue_is_up() {
    qstat -f | grep 'all.q@' | grep -qvE ' [auE]+$'
}

[ -e "$folder/environment" ] || [ "$action" != stop ] || exit 0  # nothing was started
[ -e "$folder/environment" ] || initialize >> "$folder/initialize.log" 2>&1
# shellcheck disable=SC1091
. "$folder/environment"
export SGE_EXECD_PIDFILE=$folder/run/execd.pid
case $action-$part in
start-all)
    start_qmaster
    [ -e "$folder/configured" ] || configure >> "$folder/initialize.log" 2>&1
    touch "$folder/configured"
    start_execd
    ;;
start-sge_qmaster) start_qmaster ;;
start-sge_execd) start_execd ;;
stop-sge_qmaster) stop_daemon "$folder/qmaster/qmaster.pid" sge_qmaster ;;
stop-sge_execd) stop_daemon "$SGE_EXECD_PIDFILE" sge_execd ;;
stop-all)
    stop_daemon "$SGE_EXECD_PIDFILE" sge_execd
    stop_daemon "$folder/qmaster/qmaster.pid" sge_qmaster
    release_ports "$folder"
    ;;
*)
    echo "usage: $0 start|stop FOLDER [sge_qmaster|sge_execd]" >&2
    exit 2
    ;;
esac
