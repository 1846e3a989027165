
# One task of an array job: runs its lines of the file `jobs`, one after another. A command in the file `together`
# runs several lines and moves their tokens itself; lines that it leaves are run one by one. The variables set above
# this line differ between arrays. tokens.py explains the states of a job.
set -o pipefail
# a site's files for shells may change how patterns of file names are expanded
shopt -u nullglob failglob nocaseglob
unset GLOBIGNORE
task=${SLURM_ARRAY_TASK_ID:-$SGE_TASK_ID}
# unique, even if containers on two hosts have the same name
attempt=$(uname -n).$$.$(od -An -N6 -tx1 /dev/urandom | tr -d ' \n')
export ARRAYS_ATTEMPT=$attempt ARRAYS_SHELL=$$
# that of a task in which Snakemake was started
unset ARRAYS_TOKEN

# Temporary files stay on the node, where the TMPDIR of the submit host may not exist.
if ! TMPDIR=$(mktemp -d "$scratch/arrays.XXXXXXXX" 2> /dev/null); then
    TMPDIR=$(mktemp -d /tmp/arrays.XXXXXXXX) || exit 1
fi
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

move() {  # FROM TO: renames a token; of several processes that rename it at the same time, one succeeds
    # NFS may repeat a request whose answer was lost, and then say that there is no such file
    mv -T -- "$folder/$1" "$folder/$2" 2> /dev/null || { [ ! -e "$folder/$1" ] && [ -e "$folder/$2" ]; }
}

take() {  # LINE: takes the token of a job from whoever has it; fails if nobody may run the job any more
    local from
    # an earlier attempt may rename it at the same time, at most to `running` and to `ended`
    for _ in 1 2 3; do
        for from in "$folder/$1".waiting "$folder/$1".taken.*; do
            [ -e "$from" ] && move "${from##*/}" "$1.taken.$attempt" && return
        done
        # the attempt that runs it, or one before it, may not have noticed yet
        for from in "$folder/$1".running.* "$folder/$1".awaiting.*; do
            [ -e "$from" ] && move "${from##*/}" "$1.awaiting.$attempt" && may_go_on=yes && return
        done
        # NFS may show an outdated folder until a file is created in it
        : > "$folder/.look.$attempt" && rm -f "$folder/.look.$attempt"
    done
    return 1
}

status_of() {  # LINE: prints the exit status of a job that has ended
    local ended
    for ended in "$folder/$1".ended.*; do
        [ -e "$ended" ] || return 1
        ended=${ended##*/"$1".ended.}
        echo "${ended%%.*}"
        return
    done
    return 1
}

has_more() {  # LINE: tells whether this attempt is to run jobs from this line on
    local line
    for (( line = $1; line <= last; line++ )); do
        [ ! -e "$folder/$line.taken.$attempt" ] || return 0
    done
    return 1
}

command_in() {  # FILE LINE
    sed -n "$2{p;q}" "$folder/$1" | base64 -d
}

skip() {  # LINE: leaves a job to another attempt, or to nobody if Snakemake has given it up, and says so
    move "$1.revoked.$attempt" "$1.stopped.$attempt"
    echo "This attempt no longer owns job $1: another attempt has taken it, or Snakemake has given it up" >&2
    failed=1
}

first=$(( (task - 1) * jobs_per_task + 1 ))
last=$(( task * jobs_per_task < jobs ? task * jobs_per_task : jobs ))
failed=0
may_go_on=
for (( line = first; line <= last; line++ )); do
    take $line
done
# A scheduler restarts a task that it believes dead. If that is an error, the job that ran then goes on until its
# Snakemake looks for the token.
[ -z "$may_go_on" ] || sleep "$notice" || exit 1
for (( line = first; line <= last; line++ )); do
    [ ! -e "$folder/$line.awaiting.$attempt" ] || move "$line.awaiting.$attempt" "$line.taken.$attempt"
done

for (( line = first; line <= last; line++ )); do
    if [ -e "$folder/together" ] && has_more $line && command=$(command_in together $line) && [ -n "$command" ]; then
        /bin/bash -c "$command" >> "$folder/$line.log" 2>&1 < /dev/null
        together=$?
    fi
    if status=$(status_of $line); then
        [ "$status" = 0 ] || failed=1
        continue
    fi
    if [ -e "$folder/$line.running.$attempt" ]; then
        # the Snakemake that ran several jobs was killed during this one
        status=$(( together ? together : 1 ))
    elif [ ! -e "$folder/$line.taken.$attempt" ]; then
        skip $line
        continue
    else
        if ! command=$(command_in jobs $line) || [ -z "$command" ]; then
            # the job has not ended: an empty command would succeed
            echo "line $line of $folder/jobs cannot be read" >&2
            exit 1
        fi
        if ! move "$line.taken.$attempt" "$line.running.$attempt"; then
            skip $line
            continue
        fi
        # keep what a Snakemake of several jobs printed before it gave up
        ARRAYS_TOKEN=$folder/$line.running.$attempt \
            /bin/bash -c "$command" >> "$folder/$line.log" 2>&1 < /dev/null
        status=$?
    fi
    if [ "$status" != 0 ]; then
        failed=1
        # A scheduler that ends a task, perhaps to restart it on another node, signals its processes one by
        # one: wait for the signal to this shell or to sleep, so that the job does not end.
        sleep "$pause" || exit 1
    fi
    move "$line.running.$attempt" "$line.ended.$status.$attempt" || skip $line
done
exit $failed
