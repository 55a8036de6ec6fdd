// Every permission that the bridge needs in its namespace, and no other. docs/kubernetes.md and the role in deploy/ grant exactly these. Pure.
import type { Asked } from './api-errors.ts'

export const USED_VERBS: readonly { group: string; resource: string; verbs: Asked['verb'][] }[] = [
  { group: '', resource: 'pods', verbs: ['create', 'get', 'list', 'watch', 'delete'] },
  // A WebSocket begins as a GET. Since Kubernetes 1.35 it needs the right to create as well.
  { group: '', resource: 'pods/attach', verbs: ['get', 'create'] },
  { group: 'networking.k8s.io', resource: 'networkpolicies', verbs: ['create', 'get'] },
]
