// Verifies that pods have no network, since some network plugins silently ignore policies. One pod tries the API
// server, the metadata service of clouds, and the internet. It opens connections and sends nothing.
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { withTimeout } from '@sandbridge/core/util/async'
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'
import type { Sandbox } from '@sandbridge/core/isolation'

export interface Target {
  what: string
  host: string
  port: number
}

const METADATA = 'the metadata service of the cloud'
const INTERNET = 'the internet'
const ELSEWHERE: Target[] = [
  { what: METADATA, host: '169.254.169.254', port: 80 },
  { what: METADATA, host: 'fd00:ec2::254', port: 80 },
  { what: INTERNET, host: '1.1.1.1', port: 443 },
  { what: INTERNET, host: '2606:4700:4700::1111', port: 443 },
]
const CONNECT_S = 2
const ANSWER_MS = 15_000
const MAX_ANSWER_CHARS = 65_536

/**
 * The pod's program: reads one line of JSON and writes one. A refused connection proves nothing: firewalls refuse, too.
 */
export const CHECK_PROGRAM = `
import json, os, socket, sys, threading
targets = json.loads(sys.stdin.readline())
host = os.environ.get("KUBERNETES_SERVICE_HOST")
if host:
    targets.append(["the API server", host, int(os.environ.get("KUBERNETES_SERVICE_PORT", "443"))])
reached = []
def attempt(what, host, port):
    try:
        socket.create_connection((host, port), timeout=${CONNECT_S}).close()
        reached.append([what, host, port])
    except OSError:
        pass
threads = [threading.Thread(target=attempt, args=target) for target in targets]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps({"reached": reached}), flush=True)
`

/** Returns what the pod tries, in addition to the API server's address inside the cluster. */
export async function networkTargets(server: URL): Promise<Target[]> {
  const host = server.hostname.replace(/[[\]]/g, '')
  const port = Number(server.port || '443')
  // The pod cannot resolve names.
  const addresses = isIP(host) ? [{ address: host }] : await lookup(host, { all: true }).catch(() => [])
  return [...addresses.map(({ address }) => ({ what: 'the API server', host: address, port })), ...ELSEWHERE]
}

/**
 * @param sandbox a pod that runs {@link CHECK_PROGRAM}; this function ends it
 * @throws BridgeError if it reached a target, or gave no answer
 */
export async function checkNetwork(sandbox: Sandbox, targets: readonly Target[], startMs: number): Promise<void> {
  try {
    sandbox.stdin.write(`${JSON.stringify(targets.map(({ what, host, port }) => [what, host, port]))}\n`)
    const answer = await withTimeout(firstLine(sandbox), startMs + ANSWER_MS, () => undefined)
    const reached = isRecord(answer) ? answer['reached'] : undefined
    if (!Array.isArray(reached)) throw await noAnswer(sandbox)
    if (reached.length === 0) return
    const places = reached.map((place) => (Array.isArray(place) ? `${place[0]} (${place[1]}:${place[2]})` : ''))
    const message = `A pod of this cluster has a network: it reached ${places.join(', ')}.`
    throw new BridgeError('SANDBOX_ENGINE_MISSING', message, {
      hint:
        'Use a network plugin that enforces NetworkPolicies from the start of a pod. ' +
        'To run cells all the same, set MCP_BRIDGE_KUBERNETES=network=unchecked.',
    })
  } finally {
    // Not awaited.
    void sandbox.dispose()
  }
}

/** Resolves with undefined if the pod ends without a line. */
function firstLine({ stdout, exited }: Sandbox): Promise<unknown> {
  let text = ''
  return new Promise((resolve) => {
    stdout.on('data', (chunk: Buffer) => {
      if (text.length < MAX_ANSWER_CHARS) text += chunk.toString('utf8')
      const end = text.indexOf('\n')
      if (end !== -1) resolve(parseJson(text.slice(0, end)))
    })
    void exited.then(() => resolve(undefined))
  })
}

async function noAnswer(sandbox: Sandbox): Promise<BridgeError> {
  const exit = await withTimeout(sandbox.exited, 0, () => undefined)
  const code = exit?.reason === 'no-room' ? 'SANDBOX_BUSY' : 'SANDBOX_START_FAILED'
  const why = exit ? exit.detail || exit.reason : 'it did not answer'
  return new BridgeError(code, `The pod that tries whether pods have a network did not finish: ${why}`)
}
