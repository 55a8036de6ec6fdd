#!/bin/bash
# One node of the test cluster: containerd and kubelet, below the first process of their own process, mount and network namespaces.
# When that process ends, every pod and all its mounts end.
. "$(dirname "$0")/settings.sh"
number=$1
files=$run/node-$number
log=$files/log
pods=$(pods_of "$number")
mkdir -p "$log" "$files/cni" "$files/kubelet" "$files/tunables"

# Programs of a node write to these folders wherever their files are configured to be. No other process of the machine sees them.
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /var/lib
mount --bind "$log" /var/log
mkdir -p /run/netns

# The kubelet sets kernel parameters for the whole machine. Give it files, visible to this node only, that have the values already.
tunable() {
  echo "$2" > "$files/tunables/${1//\//.}"
  mount --bind "$files/tunables/${1//\//.}" "/proc/sys/$1"
}
tunable vm/overcommit_memory 1
tunable vm/panic_on_oom 0
tunable kernel/panic 10
tunable kernel/panic_on_oops 1
tunable kernel/keys/root_maxkeys 1000000
tunable kernel/keys/root_maxbytes 25000000

cat > "$files/cni/10-pods.conflist" <<CONF
{"cniVersion": "0.4.0", "name": "pods", "plugins": [{"type": "bridge", "bridge": "pods", "isGateway": true, "ipMasq": false,
  "ipam": {"type": "host-local", "dataDir": "$files/addresses", "routes": [{"dst": "0.0.0.0/0"}],
  "ranges": [[{"subnet": "$pods.0/24"}]]}}]}
CONF

# Without permission to lower a process's OOM score, runc would fail.
cat > "$files/containerd.toml" <<CONF
version = 2
root = "$files/containerd"
state = "$files/containerd-state"
[grpc]
  address = "$files/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$files/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
CONF
containerd --config "$files/containerd.toml" > "$log/containerd.log" 2>&1 &
until ctr --address "$files/containerd.sock" version > /dev/null 2>&1; do sleep 0.2; done
images() { ctr --address "$files/containerd.sock" --namespace k8s.io images "$@" > /dev/null; }
for archive in "$run"/images/*.tar; do images import "$archive"; done
# It also has everything that tests expect of the slim image.
images tag "$image" "${SANDBRIDGE_TEST_IMAGE:-localhost/sandbridge-slim:test}"

cat > "$files/kubelet.yaml" <<CONF
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $(node_address "$number")
authentication: {anonymous: {enabled: false}, webhook: {enabled: false}, x509: {clientCAFile: $run/control/ca.crt}}
authorization: {mode: AlwaysAllow}
cgroupDriver: cgroupfs
cgroupRoot: /$prefix-$number
cgroupsPerQOS: true
enforceNodeAllocatable: [pods]
failSwapOn: false
makeIPTablesUtilChains: false
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%}
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
containerLogMaxSize: 10Mi
healthzPort: 0
resolvConf: ""
podCIDR: $pods.0/24
CONF
# This kubelet looks for profiles here, wherever its other files are. Only this node sees the folder.
mkdir -p /var/lib/kubelet/seccomp
cp "$deploy/seccomp.json" /var/lib/kubelet/seccomp/sandbridge.json
"$bin/kubelet" --config "$files/kubelet.yaml" --kubeconfig "$files/kubeconfig" --root-dir "$files/kubelet" \
  --cert-dir "$files/pki" --hostname-override "node-$number" --node-ip "$(node_address "$number")" \
  --container-runtime remote --container-runtime-endpoint "unix://$files/containerd.sock" \
  --volume-plugin-dir "$files/plugins" > "$log/kubelet.log" 2>&1 &

trap 'exit 0' TERM INT
while true; do wait || true; sleep 1 & wait $!; done
