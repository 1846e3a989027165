#!/bin/bash
# Install the browser for the tests of the report page, from the packages of Debian or Ubuntu (needs root).
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
apt-get -qq install -y --no-install-recommends chromium chromium-driver fonts-dejavu-core
