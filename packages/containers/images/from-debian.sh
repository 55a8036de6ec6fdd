#!/bin/sh
# Builds the root file system of the slim or the data image from Debian packages, for machines that reach no image registry.
# Usage: packages/containers/images/from-debian.sh slim|data OUT.tar      then: docker import - NAME < OUT.tar, or: podman import OUT.tar NAME
# Needs root, mmdebstrap and a Debian mirror in apt's sources. Versions are those of the Debian release below.
set -eu

variant=${1:-} out=${2:-}
release=bookworm
slim=python3
data=$slim,python3-numpy,python3-pandas,python3-scipy,python3-matplotlib,python3-sklearn,python3-pil

case $variant in
  slim) packages=$slim ;;
  data) packages=$data ;;
  *) echo "usage: $0 slim|data OUT.tar" >&2; exit 64 ;;
esac
[ -n "$out" ] || { echo "usage: $0 slim|data OUT.tar" >&2; exit 64; }

# Left out: documentation, and the compiler that Debian's scipy asks for. Nothing setuid stays in: the sandbox runs with
# no-new-privileges, and this is the second lock on that door.
nice mmdebstrap --quiet --format=tar --variant=minbase --include="$packages" \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/icons/*' \
  --dpkgopt='path-exclude=/usr/include/*' --dpkgopt='path-exclude=/usr/lib/gcc/*' --dpkgopt='path-exclude=*.a' \
  --dpkgopt='path-exclude=/usr/bin/*lto-dump*' \
  --aptopt='Apt::Install-Recommends "false"' \
  --customize-hook='find "$1" -xdev -perm /6000 -type f -exec chmod a-s {} +' \
  --customize-hook='rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/* "$1"/var/log/*' \
  --customize-hook='rm -rf "$1"/usr/lib/python3/dist-packages/sympy "$1"/usr/lib/python3.*/config-*' \
  --customize-hook='rm -f "$1"/etc/resolv.conf "$1"/etc/hostname' \
  "$release" "$out.part"
mv "$out.part" "$out"
