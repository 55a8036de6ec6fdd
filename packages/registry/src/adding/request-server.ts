// Adds a server at the request of a cell. The user sees the command and decides; the cell sends only a name and never
// sees a secret. A session can request each server once, and only a few servers.
import type { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import type { VisibleServer } from '@sandbridge/core/cell'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { wholeCommandLine } from '@sandbridge/core/config/secrets'
import { cleanWords } from '@sandbridge/core/util/text'
import type { Addition } from './plan-addition.ts'
import type { Registries } from '../directory/registries.ts'
import { CLIENT_INFO } from '@sandbridge/core/util'
import type { CallContext } from '@sandbridge/core/calls/methods'
import type { Question } from '@sandbridge/core/calls'

const MAX_REQUESTS = 3

/** Servers that each session has requested. */
const asked = new WeakMap<object, Set<string>>()

type Context = Pick<CallContext, 'asker' | 'session' | 'signal' | 'scope' | 'catalog' | 'origin'> & {
  registries: Registries
  bridge: Bridge
}

/**
 * Returns the server, ready to use.
 * @throws BridgeError SERVER_REFUSED when the user declines or cannot be asked, or the error of its start
 */
export async function requestServer(name: string, context: Context): Promise<VisibleServer> {
  const { registries, bridge, asker, session, signal, origin } = context
  const { settings, log } = bridge
  // A new server is shared by all users, and its command runs as the owner of the bridge.
  if (origin.user !== undefined)
    throw refused('only the owner of this bridge can add servers', 'Ask them to add it with `sandbridge add`.')
  const [{ planAddition }, { addServer, engineName, jailed }] = await Promise.all([
    import('./plan-addition.ts'),
    import('./add-server.ts'),
  ])
  const found = await registries.get(name, { signal })
  const planned = planAddition(found, { engine: await engineName() })
  const addition = await jailed(planned, settings)
  const known = context.catalog.resolveServer(addition.name)
  if (known !== undefined)
    throw refused(`there is a server '${known}' already`, 'Use it, or ask the user to add the other with --name.')
  const secrets = addition.inputs.filter(({ secret }) => secret).map((input) => input.name)
  const terminal = `Ask the user to run \`sandbridge add ${found.server.name}\` in a terminal.`
  if (secrets.length > 0)
    throw refused(`it needs secrets, which can only be given in a terminal: ${secrets.join(', ')}`, terminal)
  const question = questionFor(addition)
  if (!asker?.canAnswer(question)) throw refused('there is no user to ask', terminal)

  const earlier = asked.get(session) ?? new Set()
  asked.set(session, earlier)
  const key = found.server.name
  if (earlier.has(key)) throw refused('the user was asked before, and is not asked again', terminal)
  if (earlier.size >= MAX_REQUESTS)
    throw refused(`this session has reached the limit of ${MAX_REQUESTS} requested servers`, terminal)
  earlier.add(key)
  const { action, content } = await asker.ask(question, signal)
  const answer = (typeof content === 'object' && content !== null ? content : {}) as Record<string, unknown>
  if (action !== 'accept' || answer['add'] !== true) throw refused('the user said no', 'Go on without it.')
  const texts = addition.inputs.flatMap(({ id }): [string, string][] => {
    const text = answer[id]
    return typeof text === 'string' && text !== '' ? [[id, text]] : []
  })
  const { stateDir } = settings
  const tenant = bridge.sessions.tenantOf(session)
  const { context: client, jailPlace: jail } = (await tenant.now()).connected
  const options = { stateDir, clientInfo: CLIENT_INFO, log, context: client, jail, answers: new Map(texts), signal }
  await asker.hold(addServer(addition, options))
  // Reads the entry.
  await tenant.now()
  return madeVisible(addition.name, context)
}

function madeVisible(name: string, { catalog, scope }: Context): VisibleServer {
  const entry = catalog.servers().find((server) => server.name === name)
  if (!entry) throw refused('it was added under another name', 'See runtime.discovered_servers() in the next cell.')
  const { alias, description } = entry
  const server: VisibleServer = { name, alias, ...(description && { description }) }
  scope.add(server)
  return server
}

const IN_JAIL = 'It would run in a jail: it reaches the internet, and only files in its private home folder.'

const MAX_COMMAND_CHARS = 1_000

function questionFor(addition: Addition): Question {
  const { name, found, entry, inputs, warnings } = addition
  const transport = 'command' in entry ? { ...entry, type: 'stdio' as const } : entry
  const runs = wholeCommandLine(transport)
  if (runs.length > MAX_COMMAND_CHARS)
    throw refused(
      'its command line is too long for a question',
      `The user can add it: sandbridge add ${found.server.name}`,
    )
  const says = found.server.description ? [`Its publisher says: ${found.server.description}`] : []
  const message = [
    `The code that is running asks to add the MCP server '${found.server.name}' ${found.server.version} from ${found.registry}.`,
    `It would run: ${runs}`,
    'sandbox' in entry ? IN_JAIL : 'It would see and change what you can.',
    ...says,
    ...warnings,
    `It is kept as '${name}' until you remove it: sandbridge remove ${name}`,
  ]
  const fields = inputs.map(({ id, name: title, description, choices }) => [
    id,
    {
      type: 'string',
      title: cleanWords(title),
      ...(description && { description: cleanWords(description) }),
      ...(choices && { enum: choices }),
    },
  ])
  const add = { type: 'boolean', title: 'Add and start this server', default: false }
  const requestedSchema = {
    type: 'object',
    properties: { add, ...(Object.fromEntries(fields) as object) },
    required: ['add', ...inputs.map(({ id }) => id)],
  }
  return {
    method: 'elicitation/create',
    params: { mode: 'form', message: message.map(cleanWords).join('\n'), requestedSchema },
  }
}

function refused(reason: string, hint: string): BridgeError {
  return new BridgeError('SERVER_REFUSED', `The server was not added: ${reason}`, { hint })
}
