// The parts of a pod's manifest that the fake cluster reads, and how a real one checks or uses them.

export interface Manifest {
  metadata: {
    name: string
    labels?: Record<string, string>
    annotations?: Record<string, string>
    uid?: string
    resourceVersion?: string
    creationTimestamp?: string
    deletionTimestamp?: string
  }
  spec: {
    automountServiceAccountToken?: boolean
    terminationGracePeriodSeconds?: number
    hostNetwork?: boolean
    hostPID?: boolean
    hostIPC?: boolean
    securityContext?: { runAsNonRoot?: boolean; runAsUser?: number; seccompProfile?: { type: string } }
    volumes?: { name: string; emptyDir?: { medium?: string; sizeLimit?: string } }[]
    containers: Container[]
  }
  status?: PodStatus
}

export interface Container {
  name: string
  image: string
  command?: string[]
  args?: string[]
  env?: { name: string; value: string }[]
  envFrom?: { secretRef: { name: string } }[]
  stdin?: boolean
  stdinOnce?: boolean
  volumeMounts?: { name: string; mountPath: string }[]
  resources?: { limits?: Record<string, string>; requests?: Record<string, string> }
  securityContext?: {
    allowPrivilegeEscalation?: boolean
    privileged?: boolean
    readOnlyRootFilesystem?: boolean
    capabilities?: { drop?: string[]; add?: string[] }
  }
}

export interface PodStatus {
  phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed'
  reason?: string
  message?: string
  conditions?: { type: string; status: string; reason?: string; message?: string }[]
  containerStatuses?: {
    name: string
    state: {
      waiting?: { reason: string; message?: string }
      running?: { startedAt: string }
      terminated?: { exitCode: number; reason: string; message?: string; finishedAt: string }
    }
  }[]
}

/** Violations of the Pod Security level `restricted`; empty when a pod is admitted. */
export function restrictedViolations({ spec }: Manifest): string[] {
  const [container] = spec.containers
  const { securityContext = {} } = container!
  return [
    ...(spec.hostNetwork || spec.hostPID || spec.hostIPC ? ['host namespaces'] : []),
    ...(securityContext.allowPrivilegeEscalation === false ? [] : ['allowPrivilegeEscalation != false']),
    ...(securityContext.privileged ? ['privileged'] : []),
    ...(securityContext.capabilities?.drop?.includes('ALL') && !securityContext.capabilities.add?.length
      ? []
      : ['unrestricted capabilities']),
    ...(spec.securityContext?.runAsNonRoot ? [] : ['runAsNonRoot != true']),
    ...(spec.securityContext?.runAsUser === 0 ? ['runAsUser=0'] : []),
    ...(['RuntimeDefault', 'Localhost'].includes(spec.securityContext?.seccompProfile?.type ?? '')
      ? []
      : ['seccompProfile']),
    ...(spec.volumes ?? []).filter(({ emptyDir }) => !emptyDir).map(({ name }) => `volume ${name}`),
  ]
}

/** Expands `$(NAME)` in arguments like the kubelet: `$$` is a `$`, an unknown name stays. */
export function expand(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\$(\$|\(([^)]*)\))/g, (whole, what: string, name?: string) =>
    what === '$' ? '$' : (variables.get(name ?? '') ?? whole),
  )
}
