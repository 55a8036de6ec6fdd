#!/bin/sh
# Installs and starts real sandbox engines on a Debian 12 machine and builds the test images: rootful Docker, rootless Podman as
# an ordinary user, bubblewrap, Chromium for the page, promtool, PostgreSQL, which tests start themselves, and what a test cluster needs. Needs root and a Debian mirror, no image registry. Idempotent; what is there already stays.
# Meant for a throw-away machine: it adds a user (sandbridge-ci) and a `podman` wrapper in /usr/local/bin that becomes that user.
set -eu
export DEBIAN_FRONTEND=noninteractive
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=/var/cache/sandbridge-ci
user=sandbridge-ci
log=/var/log/sandbridge-ci
mkdir -p "$cache" "$log"
chmod 755 "$cache"

say() { echo "engines: $*" >&2; }

[ "$(id -u)" = 0 ] || { say 'must run as root'; exit 1; }

# --- packages -------------------------------------------------------------------------------------------------------------
wanted='podman runc uidmap slirp4netns fuse-overlayfs docker.io bubblewrap mmdebstrap util-linux python3 chromium prometheus
  postgresql containernetworking-plugins iproute2 openssl zsh fish tcsh'
missing=
for package in $wanted; do
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing="$missing $package"
done
if [ -n "$missing" ]; then
  say "installing$missing"
  # Daemons are started below, with the options that work here, not by their packages.
  policy=/usr/sbin/policy-rc.d
  [ -e $policy ] || { printf '#!/bin/sh\nexit 101\n' > $policy; chmod 755 $policy; ours=1; }
  apt-get update -qq
  # shellcheck disable=SC2086
  apt-get install -qq -y --no-install-recommends $missing > "$log/apt.log" 2>&1 || { tail -40 "$log/apt.log" >&2; exit 1; }
  [ -z "${ours:-}" ] || rm -f $policy
fi

# --- images, in the background while the engines start ----------------------------------------------------------------------
build() {
  [ -s "$cache/$1-$version.tar" ] || sh "$here/packages/containers/images/from-debian.sh" "$1" "$cache/$1-$version.tar" > "$log/image-$1.log" 2>&1
}
version=$(cksum < "$here/packages/containers/images/from-debian.sh" | cut -d' ' -f1)
build slim & slim_job=$!
build data & data_job=$!

# --- docker -----------------------------------------------------------------------------------------------------------------
if ! docker info > /dev/null 2>&1; then
  say 'starting dockerd'
  rm -f /var/run/docker.pid
  # No bridge and no iptables: every sandbox has --network none, and a test machine may allow neither.
  setsid dockerd --iptables=false --bridge=none --log-level=warn > "$log/dockerd.log" 2>&1 < /dev/null &
  tries=0
  until docker info > /dev/null 2>&1; do
    tries=$((tries + 1))
    [ $tries -lt 60 ] || { say 'dockerd did not start:'; tail -20 "$log/dockerd.log" >&2; exit 1; }
    sleep 0.5
  done
fi

# A daemon without a bridge gives a build step no network, which installs packages from an index: this machine's, then.
mkdir -p "$cache/bin"
docker=$(PATH=$(printf '%s' "$PATH" | sed "s|$cache/bin:||g") command -v docker)
cat > "$cache/bin/docker" <<CONF
#!/bin/sh
# Made by .ci/engines.sh.
[ "\$1" != build ] || { shift; set -- build --network=host "\$@"; }
exec $docker "\$@"
CONF
chmod 755 "$cache/bin/docker"
export PATH="$cache/bin:$PATH"

# --- rootless podman --------------------------------------------------------------------------------------------------------
id "$user" > /dev/null 2>&1 || useradd -m "$user"
uid=$(id -u "$user")
home=$(getent passwd "$user" | cut -d: -f6)
runtime=/run/user/$uid
# Its file system needs the first, the network of its build steps the second.
for device in /dev/fuse /dev/net/tun; do [ ! -e $device ] || chmod 666 $device; done
mkdir -p "$runtime" "$home/.config/containers"
# crun refuses a hybrid cgroup host.
cat > "$home/.config/containers/containers.conf" <<'CONF'
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
CONF
# store [MOUNT-PROGRAM]: how podman mounts the layers of images
store() {
  printf '[storage]\ndriver = "overlay"\n' > "$home/.config/containers/storage.conf"
  [ $# = 0 ] || printf '[storage.options.overlay]\nmount_program = "%s"\n' "$1" >> "$home/.config/containers/storage.conf"
}
store
chown -R "$user:" "$runtime" "$home/.config"
chmod 700 "$runtime"
# The wrapper is what the tests find as `podman`. A user who is not root is left with the real one.
cat > /usr/local/bin/podman <<CONF
#!/bin/sh
# Made by .ci/engines.sh: podman without root, as the user $user.
[ "\$(id -u)" = 0 ] || exec /usr/bin/podman "\$@"
cd / && exec setpriv --reuid $user --regid $user --init-groups \\
  env HOME=$home XDG_RUNTIME_DIR=$runtime USER=$user LOGNAME=$user /usr/bin/podman "\$@"
CONF
chmod 755 /usr/local/bin/podman
# A kernel from 5.13 on mounts them for a user as well, in half the time of fuse-overlayfs. An older one does not, and
# what fuse-overlayfs has stored stays with it; without either, podman would copy the image for each container.
[ "$(podman info --format '{{index .Store.GraphStatus "Native Overlay Diff"}}' 2> /dev/null)" = true ] ||
  store /usr/bin/fuse-overlayfs
podman info > "$log/podman-info.log" 2>&1 || { say 'podman does not work:'; tail -5 "$log/podman-info.log" >&2; exit 1; }

# --- images into both -------------------------------------------------------------------------------------------------------
load() {
  tar=$cache/$1-$version.tar name=localhost/sandbridge-$1:test
  set -- "$1" --change "LABEL sandbridge.recipe=$version"
  label='{{index .Config.Labels "sandbridge.recipe"}}'
  docker_job= podman_job=
  if [ "$(docker image inspect --format "$label" "$name" 2>/dev/null)" != "$version" ]; then
    docker import --change 'ENV LANG=C.UTF-8' "$2" "$3" - "$name" < "$tar" > "$log/docker-$1.log" 2>&1 & docker_job=$!
  fi
  if [ "$(podman image inspect --format "$label" "$name" 2>/dev/null)" != "$version" ]; then
    podman import --change 'ENV LANG=C.UTF-8' "$2" "$3" - "$name" < "$tar" > "$log/podman-$1.log" 2>&1 & podman_job=$!
  fi
  [ -z "$docker_job" ] || wait "$docker_job"
  [ -z "$podman_job" ] || wait "$podman_job"
}
wait $slim_job || { say 'the slim image failed:'; tail -20 "$log/image-slim.log" >&2; exit 1; }
load slim
# slim, and the Node of this machine in it, which needs no library that slim does not have.
with_node() {
  tar=$cache/node-$version.tar
  [ ! -s "$tar" ] || return 0
  cp "$cache/slim-$version.tar" "$tar.new"
  node=$(readlink -f "$(command -v node)")
  tar --append --file "$tar.new" --owner 0 --group 0 --directory / --transform 's|.*|usr/local/bin/node|' "${node#/}"
  mv "$tar.new" "$tar"
}
with_node
load node
wait $data_job || { say 'the data image failed:'; tail -20 "$log/image-data.log" >&2; exit 1; }
load data

export SANDBRIDGE_TEST_ENGINES=podman,docker,bubblewrap,bubblewrap-image,bubblewrap-fork
export SANDBRIDGE_TEST_PROMTOOL=1
export SANDBRIDGE_TEST_POSTGRES=1
say "docker $(docker version --format '{{.Server.Version}}'), $(podman --version), $(bwrap --version); images sandbridge-slim:test, sandbridge-node:test and sandbridge-data:test"
