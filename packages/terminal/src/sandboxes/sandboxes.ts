// `sandbridge sandboxes`: lists and removes pods that outlive their bridge, for the namespace's owner.
import { loadSettings } from '@sandbridge/core/config/settings'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { kubernetes } from '@sandbridge/core/parts'
import { count } from '@sandbridge/core/util/text'
import {
  print,
  printEmpty,
  printJson,
  printSummary,
  printTable,
  visibleInline,
} from '@sandbridge/core/serve/cli/terminal'

const NONE = 'There are no durable pods. With MCP_BRIDGE_SESSION=durable, the pod of a session outlives its bridge.'

export async function sandboxes({ json, remove }: { json?: boolean; remove?: string }): Promise<void> {
  if (remove !== undefined) {
    await removeSandbox(remove)
    return json ? printJson({ removed: remove }) : print(`Ended '${remove}'. Its variables are gone.`)
  }
  const kept = await keptPods()
  const pods = (await kept.pods.listKeptPods(kept.cluster)).map(({ name, state, holder, client, createdAt }) => ({
    id: name,
    state,
    client,
    createdAt: new Date(createdAt).toISOString(),
    bridge: state === 'in use' ? holder : undefined,
  }))
  if (json) return printJson(pods)
  if (pods.length === 0) return printEmpty(NONE)
  printTable(
    pods.map(({ id, state, bridge, client, createdAt }) => [
      id,
      bridge === undefined ? state : `${state} (${visibleInline(bridge)})`,
      visibleInline(client ?? '-'),
      createdAt.slice(0, 16).replace('T', ' '),
    ]),
    { head: ['ID', 'STATE', 'CLIENT', 'CREATED'] },
  )
  printSummary(`${count(pods.length, 'sandbox', 'sandboxes')}. End one: sandbridge sandboxes --remove ${pods[0]!.id}`)
}

/** @throws BridgeError STATE_NOT_FOUND, STATE_REFUSED while a bridge has it */
async function removeSandbox(name: string): Promise<void> {
  const { pods, cluster } = await keptPods()
  const answer = await pods.removeKeptPod(cluster, name)
  if (answer === 'missing') {
    throw new BridgeError('STATE_NOT_FOUND', `There is no sandbox '${visibleInline(name)}'`, {
      hint: 'See `sandbridge sandboxes`.',
    })
  }
  if (answer !== 'removed') {
    const bridge = visibleInline(answer.holder)
    throw new BridgeError('STATE_REFUSED', `A bridge (${bridge}) is using the sandbox '${name}'`, {
      hint: 'End that bridge first.',
    })
  }
}

/** @throws BridgeError CONFIG_INVALID where sandboxes are no pods */
async function keptPods() {
  const { runtime, kubernetesContext: context, kubernetesNamespace: namespace } = await loadSettings()
  if (runtime !== 'kubernetes') {
    const message = 'Only pods outlive their bridge, and MCP_BRIDGE_RUNTIME is not kubernetes'
    throw new BridgeError('CONFIG_INVALID', message, {
      hint: 'Set MCP_BRIDGE_RUNTIME=kubernetes. On one machine, the resident bridge keeps sessions.',
    })
  }
  const pods = await kubernetes.for('MCP_BRIDGE_RUNTIME=kubernetes')
  return { pods, cluster: { context, namespace } }
}
