#!/bin/bash
# The control plane of the test cluster: the first process of its own process namespace, so that everything ends with it.
. "$(dirname "$0")/settings.sh"
files=$run/control
log=$files/log
mkdir -p "$log"

"$bin/etcd" --data-dir "$files/etcd" --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
  --listen-peer-urls http://127.0.0.1:2380 --unsafe-no-fsync --log-level warn > "$log/etcd.log" 2>&1 &

serve() {
  "$bin/kube-apiserver" \
    --etcd-servers=http://127.0.0.1:2379 --bind-address=0.0.0.0 --secure-port=443 --advertise-address="$control_address" \
    --service-cluster-ip-range=10.96.0.0/24 --authorization-mode=Node,RBAC --allow-privileged=false \
    --enable-admission-plugins=NodeRestriction --client-ca-file="$files/ca.crt" \
    --tls-cert-file="$files/server.crt" --tls-private-key-file="$files/server.key" \
    --kubelet-preferred-address-types=InternalIP --kubelet-client-certificate="$files/admin.crt" --kubelet-client-key="$files/admin.key" \
    --service-account-key-file="$files/accounts.pub" --service-account-signing-key-file="$files/accounts.key" \
    --service-account-issuer=https://kubernetes.default.svc --event-ttl=10m >> "$log/apiserver.log" 2>&1 &
  server=$!
}
# Tests stop the API server with this file; it stays down as long as the file exists.
attend() {
  while true; do
    serve
    until [ -e "$files/away" ]; do sleep 0.2; done
    kill -KILL "$server"
    wait "$server" || true
    while [ -e "$files/away" ]; do sleep 0.2; done
  done
}
attend &

"$bin/kube-controller-manager" --kubeconfig="$files/admin.kubeconfig" --service-account-private-key-file="$files/accounts.key" \
  --root-ca-file="$files/ca.crt" --use-service-account-credentials --leader-elect=false --bind-address=127.0.0.1 \
  --port=0 > "$log/controller-manager.log" 2>&1 &

"$bin/kube-scheduler" --kubeconfig="$files/admin.kubeconfig" --leader-elect=false --bind-address=127.0.0.1 \
  --port=0 > "$log/scheduler.log" 2>&1 &

# An exited part does not end the others, because tests stop one on purpose. A signal ends all.
trap 'exit 0' TERM INT
while true; do wait || true; sleep 1 & wait $!; done
