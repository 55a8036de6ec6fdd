#!/bin/bash
# Stops the test cluster and removes what was created for it. Does nothing when none is running.
. "$(dirname "$0")/settings.sh"
[ "$(id -u)" = 0 ] || fail 'needs root'

for file in "$run"/*.pid; do
  [ -e "$file" ] || continue
  pid=$(cat "$file")
  # The process id may have been reused.
  grep -qsz -- "$run\|/scripts/cluster/\|nsenter\|unshare" "/proc/$pid/cmdline" || continue
  kill -KILL "$pid" 2> /dev/null || true
  while [ -e "/proc/$pid" ]; do sleep 0.1; done
done
for name in control $nodes; do
  ip netns del "$prefix-$name" 2> /dev/null || true
  ip link del "$prefix-$name" 2> /dev/null || true
done
ip link del "$prefix" 2> /dev/null || true
# The kernel takes a moment to release the last processes of a group.
for tries in 1 2 3 4 5 6 7 8 9 10; do
  find /sys/fs/cgroup/*/"$prefix"-* -depth -type d -exec rmdir {} + 2> /dev/null || true
  ls -d /sys/fs/cgroup/*/"$prefix"-* > /dev/null 2>&1 || break
  sleep 0.5
done
if ls -d /sys/fs/cgroup/*/"$prefix"-* > /dev/null 2>&1; then say "control groups are left: /sys/fs/cgroup/*/$prefix-*"; fi
rm -rf --one-file-system "$run"
