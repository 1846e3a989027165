#!/bin/bash
# Install Slurm and Grid Engine, and what makes files late, from the packages of Debian or Ubuntu (needs root).
# Nothing is started.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive

# A package that starts its daemon would start it with a configuration that does not fit; a machine's own
# policy is left as it is.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' > "$policy"
    chmod +x "$policy"
    trap 'rm -f "$policy"' EXIT
fi

# The package would otherwise take the master to be a host of the name "master".
for package in common client master exec; do
    echo "gridengine-$package shared/gridengineconfig boolean true"
    echo "gridengine-$package shared/gridenginecell string default"
    echo "gridengine-$package shared/gridenginemaster string $(hostname)"
done | debconf-set-selections

apt-get -qq update
apt-get -qq install -y --no-install-recommends \
    munge slurmctld slurmd slurm-client gridengine-master gridengine-exec gridengine-client bindfs
