#!/usr/bin/env bash
# Print the path of a Chromium: the one that CHROMIUM names, one that is installed, or, as root on a
# Debian, one that apt installs.
set -euo pipefail

installed() {
	command -v chromium || command -v chromium-browser || command -v google-chrome || command -v google-chrome-stable
}

if [ -n "${CHROMIUM:-}" ]; then
	echo "$CHROMIUM"
elif installed; then
	:
elif [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	{ apt-get update && apt-get install -y --no-install-recommends chromium fonts-dejavu-core; } >/dev/null
	installed
else
	echo 'No Chromium was found. Install one, or set CHROMIUM to its path.' >&2
	exit 1
fi
