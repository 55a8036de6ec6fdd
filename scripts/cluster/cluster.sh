#!/bin/bash
# `npm run cluster -- build|up|status|down`: a real Kubernetes cluster of two nodes on this machine, for the tests that take SANDBRIDGE_TEST_KUBECONFIG.
. "$(dirname "$0")/settings.sh"
here=$(cd "$(dirname "$0")" && pwd)

case ${1:-} in
  up) exec "$here/up.sh" ;;
  down) exec "$here/down.sh" ;;
  build) exec "$here/build.sh" ;;
  # Where the kubeconfig of the cluster is while there is one.
  kubeconfig) echo "$kubeconfig" ;;
  status)
    [ -e "$kubeconfig" ] || { echo 'no cluster'; exit 1; }
    echo "export SANDBRIDGE_TEST_KUBECONFIG=$kubeconfig"
    exec "$bin/kubectl" --kubeconfig "$kubeconfig" --context admin get nodes,pods --all-namespaces --output wide
    ;;
  *) echo 'usage: npm run cluster -- build|up|status|down' >&2; exit 64 ;;
esac
