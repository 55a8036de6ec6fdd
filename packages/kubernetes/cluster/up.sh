#!/bin/bash
# Starts a Kubernetes cluster of two nodes on this machine for tests: a control plane and two nodes in network namespaces, without iptables and
# independent of a docker or containerd that is already running. Prints how to use it.
. "$(dirname "$0")/settings.sh"
here=$(cd "$(dirname "$0")" && pwd)

[ "$(id -u)" = 0 ] || fail 'needs root, for network namespaces and containers'
# Several tests may request it at once: the first one starts it, and the others wait.
mkdir -p "$dir"
exec 9> "$dir/up.lock"
flock 9
usage() { echo "export SANDBRIDGE_TEST_KUBECONFIG=$kubeconfig"; }
if [ -e "$kubeconfig" ]; then usage; exit 0; fi
[ ! -e "$run" ] || fail "there is half a cluster in $run. Run \`npm run cluster -- down\` first."
for program in containerd ctr runc ip nsenter unshare openssl docker; do
  command -v "$program" > /dev/null || fail "needs $program: apt-get install containerd runc iproute2 util-linux openssl docker.io"
done
[ -x /usr/lib/cni/bridge ] || fail 'needs /usr/lib/cni/bridge: apt-get install containernetworking-plugins'
docker image inspect "$image" > /dev/null 2>&1 || fail "needs the image $image in docker: .ci/engines.sh builds it"
"$here/build.sh"

mkdir -p "$run/control" "$run/images"
# It contains keys.
chmod 700 "$run"
# Undo everything when the start fails.
trap '"$here/down.sh" || true; fail "the cluster did not start"' ERR
set -E

# --- images -----------------------------------------------------------------------------------------------------------------
tar --create --directory "$bin" --owner 0 --group 0 --mode 755 pause |
  docker import --change 'ENTRYPOINT ["/pause"]' - localhost/pause:1 > /dev/null
docker save localhost/pause:1 > "$run/images/pause.tar"
docker rmi localhost/pause:1 > /dev/null
docker save "$image" > "$run/images/test.tar"

# --- certificates -----------------------------------------------------------------------------------------------------------
cd "$run/control"
openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=test-cluster -keyout ca.key -out ca.crt 2> /dev/null
openssl genrsa -out accounts.key 2048 2> /dev/null
openssl rsa -in accounts.key -pubout -out accounts.pub 2> /dev/null
# issue NAME SUBJECT ALTERNATIVE-NAMES
issue() {
  openssl req -newkey rsa:2048 -nodes -subj "$2" -keyout "$1.key" -out "$1.csr" 2> /dev/null
  openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -out "$1.crt" \
    -extfile <(echo "subjectAltName=$3") 2> /dev/null
}
issue server /CN=kube-apiserver "IP:$control_address,IP:$service_address,IP:127.0.0.1,DNS:kubernetes.default.svc"
issue admin /O=system:masters/CN=admin DNS:admin
# client FILE NAME CREDENTIALS: a kubeconfig
client() {
  cat > "$1" <<CONF
apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: 'https://$control_address:443', certificate-authority: $run/control/ca.crt}}]
users: [{name: $2, user: {$3}}]
contexts: [{name: $2, context: {cluster: test, user: $2}}]
current-context: $2
CONF
}
certificate() { echo "client-certificate: $run/control/$1.crt, client-key: $run/control/$1.key"; }
client admin.kubeconfig admin "$(certificate admin)"

# --- network ----------------------------------------------------------------------------------------------------------------
ip link add "$prefix" type bridge
ip addr add "$host_address/24" dev "$prefix"
ip link set "$prefix" up
# join NAME ADDRESS: a network namespace attached to the bridge
join() {
  ip netns add "$prefix-$1"
  ip link add "$prefix-$1" type veth peer name eth0 netns "$prefix-$1"
  ip link set "$prefix-$1" master "$prefix" up
  ip -n "$prefix-$1" link set lo up
  ip -n "$prefix-$1" link set eth0 up
  ip -n "$prefix-$1" addr add "$2/24" dev eth0
  # Packets without another route end at this machine.
  ip -n "$prefix-$1" route add default via "$host_address"
  nsenter --net="/run/netns/$prefix-$1" sysctl -qw net.ipv4.ip_forward=1
}
join control "$control_address"
ip -n "$prefix-control" addr add "$service_address/32" dev lo
for node in $nodes; do join "$node" "$(node_address "$node")"; done
for node in $nodes; do
  # Pods reach the API server and its service address by this route: there is no kube-proxy.
  ip -n "$prefix-$node" route add "$service_address/32" via "$control_address"
  for other in control $nodes; do
    [ "$other" = "$node" ] || ip -n "$prefix-$other" route add "$(pods_of "$node").0/24" via "$(node_address "$node")"
  done
done

# --- processes --------------------------------------------------------------------------------------------------------------
inside() {
  nsenter --net="/run/netns/$prefix-$1" unshare --pid --fork --kill-child --mount-proc --propagation private \
    "${@:2}" > "$run/$1.log" 2>&1 < /dev/null 9>&- &
  echo $! > "$run/$1.pid"
}
kubectl() { "$bin/kubectl" --kubeconfig "$run/control/admin.kubeconfig" "$@"; }
# eventually SECONDS COMMAND…
eventually() {
  local deadline=$((SECONDS + $1))
  until "${@:2}" > /dev/null 2>&1; do
    [ $SECONDS -lt $deadline ] || { say "did not happen within $1 s: ${*:2}"; return 1; }
    sleep 0.5
  done
}
inside control "$here/control-plane.sh"
say 'waiting for the API server'
eventually 60 kubectl get --raw /readyz
for node in $nodes; do
  for tree in /sys/fs/cgroup/*/; do [ "$tree" = /sys/fs/cgroup/unified/ ] || mkdir -p "$tree$prefix-$node"; done
  cat /sys/fs/cgroup/cpuset/cpuset.cpus > "/sys/fs/cgroup/cpuset/$prefix-$node/cpuset.cpus"
  cat /sys/fs/cgroup/cpuset/cpuset.mems > "/sys/fs/cgroup/cpuset/$prefix-$node/cpuset.mems"
  issue "node-$node" "/O=system:nodes/CN=system:node:node-$node" "DNS:node-$node"
  mkdir -p "$run/node-$node"
  client "$run/node-$node/kubeconfig" "node-$node" "$(certificate "node-$node")"
  inside "$node" "$here/node.sh" "$node"
done
say 'waiting for the nodes'
is_ready() { kubectl get node "node-$1" | grep -q ' Ready'; }
for node in $nodes; do eventually 90 is_ready "$node"; done

# --- the namespace, and who a bridge is in it -------------------------------------------------------------------------------
kubectl apply --kustomize "$deploy" > /dev/null
token() {
  kubectl --namespace sandbridge-sandboxes get secrets --output \
    'jsonpath={.items[?(@.metadata.annotations.kubernetes\.io/service-account\.name=="sandbridge")].data.token}' | base64 -d
}
has_token() { [ -n "$(token)" ]; }
eventually 30 has_token
cat > "$kubeconfig.new" <<CONF
apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: 'https://$control_address:443', certificate-authority: $run/control/ca.crt}}]
users:
  - {name: bridge, user: {token: '$(token)'}}
  - {name: admin, user: {$(certificate admin)}}
contexts:
  - {name: bridge, context: {cluster: test, user: bridge, namespace: sandbridge-sandboxes}}
  - {name: admin, context: {cluster: test, user: admin, namespace: sandbridge-sandboxes}}
current-context: bridge
CONF
mv "$kubeconfig.new" "$kubeconfig"
trap - ERR
say 'it runs. The context `bridge` has the rights of a bridge, `admin` has all.'
usage
