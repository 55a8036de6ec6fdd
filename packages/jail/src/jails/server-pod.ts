// Converts a server's definition for a pod: its image, program and network. Refuses what a pod cannot provide: a server
// never runs in a weaker jail than its definition asks for.
import { IMAGE_NAME, type ServerSandbox, type StdioServer } from '@sandbridge/core/config/entries'
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { Program } from '@sandbridge/core/isolation'

/** Options without a meaning for a pod, which has a stdin and is removed anyway. */
const NO_MEANING = new Set(['-i', '--interactive', '-i=true', '--interactive=true', '--rm', '--rm=true', '--init'])

/** Valid as a key of a Secret and as a variable of a container. */
const VARIABLE = /^[-._a-zA-Z][-._a-zA-Z0-9]*$/

/** See `JailsPart`. @param server with its placeholders filled in */
export function programInPod(name: string, server: StdioServer, fallback?: string): Omit<Program, 'onStderr'> {
  const { sandbox = {}, cwd: folder, env } = server
  if ([sandbox.filesystem?.allowRead, sandbox.filesystem?.allowWrite].some((paths) => paths && paths.length > 0))
    throw unavailable(
      name,
      'its sandbox opens folders of a machine, which a pod does not have',
      'allowRead, allowWrite',
    )
  const image = sandbox.image
  const ran = image === undefined ? containerCommand(server) : undefined
  if (typeof ran === 'string') throw unavailable(name, ran, 'that option')
  const program = ran ?? { image: image ?? fallback, command: server.command, args: server.args, environment: env }
  if (program.image === undefined) {
    throw new BridgeError('CONFIG_INVALID', `Server '${name}' runs in a pod, and has no image`, {
      hint: 'Set MCP_BRIDGE_JAIL=image=IMAGE, with node and uv, or `image` in the `sandbox` of the server.',
    })
  }
  if (!IMAGE_NAME.test(program.image))
    throw new BridgeError('CONFIG_INVALID', `Server '${name}' has an image whose name is invalid: ${program.image}`)
  const wrong = Object.keys(program.environment).find((variable) => !VARIABLE.test(variable))
  if (wrong !== undefined)
    throw new BridgeError('CONFIG_INVALID', `Server '${name}' has a variable whose name no pod can have: ${wrong}`)
  return { ...program, image: program.image, name, folder, hasNetwork: hasNetwork(name, sandbox) }
}

/** A network policy of the cluster supports addresses, not host names. */
function hasNetwork(name: string, { network = false }: ServerSandbox): boolean {
  if (typeof network === 'boolean') return network
  const { allowedDomains, deniedDomains = [] } = network
  if (allowedDomains.length === 0) return false
  if (allowedDomains.includes('*') && deniedDomains.length === 0) return true
  throw unavailable(name, 'its sandbox names domains, and the network of a pod cannot be limited to domains', 'network')
}

function unavailable(name: string, why: string, field: string): BridgeError {
  const remedy = `Change ${field} in the definition of the server, or run the bridge without MCP_BRIDGE_KUBERNETES=servers=pods.`
  return new BridgeError('UPSTREAM_JAIL_UNAVAILABLE', `Server '${name}' cannot run in a pod: ${why}.`, {
    hint: `The server was not started. Ask the user: ${remedy}`,
    userHint: remedy,
  })
}

interface ContainerProgram {
  image: string
  command?: undefined
  args: string[]
  environment: Record<string, string>
}

// Parses a definition that runs an image with docker or podman: in a pod, the image itself runs.

/** Undefined for another command. A text states what a pod cannot do. */
export function containerCommand({ command, args, env }: StdioServer): ContainerProgram | string | undefined {
  const program = command.replaceAll('\\', '/').split('/').at(-1)
  if ((program !== 'docker' && program !== 'podman') || args[0] !== 'run') return undefined
  const environment: Record<string, string> = {}
  for (let at = 1; at < args.length; at += 1) {
    const word = args[at]!
    if (!word.startsWith('-')) return { image: word, args: args.slice(at + 1), environment }
    if (NO_MEANING.has(word)) continue
    const [, joined] = /^(?:--env=|-e=?)(.+)$/.exec(word) ?? []
    if (joined === undefined && word !== '-e' && word !== '--env')
      return `its \`${program} run\` has the option ${word.split('=')[0]!.slice(0, 40)}, which a pod does not have`
    if (joined === undefined) at += 1
    const [name = '', ...value] = (joined ?? args[at] ?? '').split('=')
    const text = value.length > 0 ? value.join('=') : env[name]
    if (text !== undefined) environment[name] = text
  }
  return `its \`${program} run\` names no image`
}
