# Common settings of the test cluster's scripts: its files and its addresses. Sourced by each of them.
set -eu

# Contains binaries, by the recipe that built them; `run` below it belongs to one running cluster and is deleted with it.
dir=${SANDBRIDGE_CLUSTER_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/sandbridge/cluster}
version=1.20.2
bin=$dir/kubernetes-$version-$(cksum < "$(dirname "${BASH_SOURCE[0]}")/build.sh" | cut -d' ' -f1)
run=$dir/run
# Nodes hide these folders behind empty ones.
case $dir in /run/* | /var/lib/* | /var/log/*) echo "cluster: SANDBRIDGE_CLUSTER_DIR cannot be in $dir" >&2; exit 1 ;; esac
kubeconfig=$run/kubeconfig

# The image that pods run.
image=${SANDBRIDGE_TEST_NODE_IMAGE:-localhost/sandbridge-node:test}

# Prefix of the network namespaces and their bridge; nothing else on the machine has it.
prefix=sbk8s
nodes='1 2'
host_address=10.77.0.1
control_address=10.77.0.2
service_address=10.96.0.1
node_address() { echo "10.77.0.1$1"; }
pods_of() { echo "10.78.$1"; }

deploy=$(cd "$(dirname "$0")/.." && pwd)/deploy/kubernetes

say() { echo "cluster: $*" >&2; }
fail() { say "$*"; exit 1; }
