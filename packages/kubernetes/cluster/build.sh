#!/bin/bash
# Builds Kubernetes 1.20 and etcd for the test cluster from Debian's archive alone, without installing a package: Debian's Go compiler is
# unpacked beside the sources. Takes about ten minutes on two cores, and 4 GB of disk that are freed at the end. Keeps existing builds.
. "$(dirname "$0")/settings.sh"

programs='kube-apiserver kube-controller-manager kube-scheduler kubelet kubectl'
work=$dir/build
archive=${SANDBRIDGE_DEBIAN_MIRROR:-http://deb.debian.org/debian}

# One build at a time. The folder appears when it is complete.
mkdir -p "$dir"
exec 9> "$dir/build.lock"
flock 9
[ ! -e "$bin" ] || exit 0

rm -rf "$work"
mkdir -p "$work/bin" "$work/lists/partial" "$work/cache/archives/partial" "$work/debs" "$work/root" "$work/src"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
printf '%s [signed-by=%s] %s bookworm main\n' deb "$keyring" "$archive" deb-src "$keyring" "$archive" > "$work/sources.list"
cat > "$work/apt.conf" <<CONF
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$work/lists";
Dir::Cache "$work/cache";
APT::Sandbox::User "root";
CONF
export APT_CONFIG=$work/apt.conf

say "fetching the sources of Kubernetes and a Go compiler from $archive"
apt-get update -qq
(cd "$work/debs" && apt-get download -qq golang-1.19-go golang-1.19-src rsync libpopt0 etcd-server \
  golang-github-modern-go-reflect2-dev)
(cd "$work" && apt-get source -qq --download-only kubernetes) || fail "$archive has no sources of Kubernetes in bookworm"
for deb in "$work"/debs/*.deb; do dpkg -x "$deb" "$work/root"; done
tar xzf "$work"/kubernetes_*.orig.tar.gz -C "$work/src" --strip-components=1
# The vendored version of this package crashes programs that are built with a newer Go.
reflect=$work/src/vendor/github.com/modern-go/reflect2
rm -rf "$reflect"
cp -r "$work/root/usr/share/gocode/src/github.com/modern-go/reflect2" "$reflect"

# Leave out the code for specific cloud providers, which takes half of the time.
export GOROOT=$work/root/usr/lib/go-1.19 GOCACHE=$work/go-cache GOFLAGS=-tags=providerless CGO_ENABLED=0 HOME=$work
export PATH=$GOROOT/bin:$work/root/usr/bin:$PATH
LD_LIBRARY_PATH=$(echo "$work"/root/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH
# The sources have no Git history to read their version from.
export KUBE_GIT_VERSION=v$version KUBE_GIT_MAJOR=1 KUBE_GIT_MINOR=20 KUBE_GIT_COMMIT=debian KUBE_GIT_TREE_STATE=archive

say 'building Kubernetes'
what=
for program in $programs; do what="$what cmd/$program"; done
nice -n 19 make -C "$work/src" WHAT="${what# }" > "$work/make.log" 2>&1 ||
  { tail -30 "$work/make.log" >&2; fail "the build failed: $work/make.log"; }
# The container that holds the namespaces of a pod does nothing until it is killed.
cat > "$work/pause.go" <<'GO'
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM, syscall.SIGINT)
	<-ends
}
GO
GO111MODULE=off GOFLAGS='' go build -ldflags '-s -w' -o "$work/bin/pause" "$work/pause.go"
for program in $programs; do install -m 755 "$work/src/_output/bin/$program" "$work/bin/$program"; done
install -m 755 "$work/root/usr/bin/etcd" "$work/bin/etcd"
# Remove the output of older recipes.
rm -rf "$dir"/kubernetes-*
mv "$work/bin" "$bin"
rm -rf "$work"
say "built: $("$bin/kubelet" --version)"
