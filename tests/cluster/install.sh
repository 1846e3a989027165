#!/bin/bash
# Install Slurm, Grid Engine, and bindfs, which delays files, from the packages of Debian or Ubuntu (needs root).
# Starts nothing.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive

# Packages would start their daemons with an unsuitable configuration; an existing policy is kept.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' > "$policy"
    chmod +x "$policy"
    trap 'rm -f "$policy"' EXIT
fi

# Otherwise the package expects the master on a host named "master".
for package in common client master exec; do
    echo "gridengine-$package shared/gridengineconfig boolean true"
    echo "gridengine-$package shared/gridenginecell string default"
    echo "gridengine-$package shared/gridenginemaster string $(hostname)"
done | debconf-set-selections

apt-get -qq update
apt-get -qq install -y --no-install-recommends \
    munge slurmctld slurmd slurm-client gridengine-master gridengine-exec gridengine-client bindfs
