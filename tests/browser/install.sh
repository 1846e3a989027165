#!/bin/bash
# Install the browser that looks at the page of a run, from the packages of Debian or Ubuntu (needs root).
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
apt-get -qq install -y --no-install-recommends chromium chromium-driver fonts-dejavu-core
