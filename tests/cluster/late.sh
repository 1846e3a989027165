#!/bin/bash
# late.sh FOLDER SECONDS COMMAND...
#
# Run COMMAND in FOLDER as seen by an NFS client: look-ups are cached for SECONDS, so files of other processes appear
# late. Only COMMAND gets this view of FOLDER. Needs bindfs and access to /dev/fuse.
set -euo pipefail

if [ "$1" != --inside ]; then
    folder=$(realpath "$1") script=$(realpath "$0")
    cd /  # no process may be in the folder when it is unmounted
    own=(--mount)
    [ "$(id -u)" = 0 ] || own+=(--user --map-current-user --keep-caps)
    exec unshare "${own[@]}" "$script" --inside "$folder" "${@:2}"
fi
folder=$2 seconds=$3
shift 3
log=$(mktemp)
trap 'kill "$server" 2> /dev/null || true; rm -f "$log"' EXIT
bindfs -f -o "attr_timeout=$seconds,entry_timeout=$seconds,negative_timeout=$seconds" "$folder" "$folder" > "$log" 2>&1 &
server=$!
until mountpoint -q "$folder"; do
    kill -0 "$server" 2> /dev/null || { cat "$log" >&2; exit 125; }
    sleep 0.1
done
status=0
(cd "$folder" && "$@") || status=$?
# processes left running by COMMAND may be in the folder
umount "$folder" 2> /dev/null || umount --lazy "$folder"
exit "$status"
