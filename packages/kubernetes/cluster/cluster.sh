#!/bin/bash
# `npm run cluster -- build|up|load|status|down`: a real Kubernetes cluster of two nodes on this machine, for tests that use SANDBRIDGE_TEST_KUBECONFIG.
. "$(dirname "$0")/settings.sh"
here=$(cd "$(dirname "$0")" && pwd)

case ${1:-} in
  up) exec "$here/up.sh" ;;
  down) exec "$here/down.sh" ;;
  build) exec "$here/build.sh" ;;
  # Load an image of this machine's docker for pods on all nodes.
  load)
    [ -n "${2:-}" ] || fail 'usage: npm run cluster -- load IMAGE'
    for node in $nodes; do
      docker save "$2" | ctr --address "$run/node-$node/containerd.sock" --namespace k8s.io images import - > /dev/null
    done
    ;;
  # The kubeconfig of the cluster while it is running.
  kubeconfig) echo "$kubeconfig" ;;
  status)
    [ -e "$kubeconfig" ] || { echo 'no cluster'; exit 1; }
    echo "export SANDBRIDGE_TEST_KUBECONFIG=$kubeconfig"
    exec "$bin/kubectl" --kubeconfig "$kubeconfig" --context admin get nodes,pods --all-namespaces --output wide
    ;;
  *) echo 'usage: npm run cluster -- build|up|load|status|down' >&2; exit 64 ;;
esac
