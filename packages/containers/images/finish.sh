#!/bin/sh
# The last step of the images, run while they are built.
set -eu

# The sandbox runs with no-new-privileges; this is the second lock on that door.
find / -xdev -perm /6000 -type f -exec chmod a-s {} +

# An image without an installer is fine too.
if python3 -m pip --version > /dev/null 2>&1; then python3 -m pip uninstall --yes --quiet pip; fi

# A running sandbox is read-only and would compile the library again in every kernel. Some of its files are no valid Python, on purpose.
python3 -m compileall -q -j 0 "$(python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')" > /dev/null || true

rm -rf /tmp/* /root/.cache /var/lib/apt/lists/*
