// Answers show_app: the app goes to the viewer in `_meta`. It is masked and counts as read: the client decides.
import { renderFailure } from '@sandbridge/core/cell/render'
import type { CallToolResult } from '@modelcontextprotocol/server'
import { appsOf, MAX_PAGE_CHARS, type ServerApp } from './server-apps.ts'
import { artifactUri } from '@sandbridge/memories/saved/artifact-store.ts'
import type { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import { gates, RULES } from '@sandbridge/core/parts'
import { noteText } from '@sandbridge/core/cell/render'
import type { Session } from '@sandbridge/core/cell'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { fieldsOf } from '@sandbridge/core/util/json/json.ts'
import { firstOf } from '@sandbridge/core/util/text'
import { shortName } from '@sandbridge/core/util/text'
import { maskerFor } from '@sandbridge/core/serve/mcp'
import { SHOW_APP_TOOL, SHOW_APP_TOOL_WITH_SESSION } from './app-tool.ts'
import { readArguments } from '@sandbridge/core/serve'
import { type Conversation } from '@sandbridge/core/serve/mcp'

/** The field of `_meta` that viewer.html reads. */
const APP_META = 'sandbridge/app'

interface Shown {
  /** What the user sees, for the model. */
  what: string
  /** A page of a cell, or the app of a tool with its call. */
  app: { html: string; args?: unknown; result?: unknown }
}

/** Every failure is a result that the model can act on. */
export async function showApp(
  args: Record<string, unknown> | undefined,
  conversation: Conversation,
  byHandle: boolean,
): Promise<CallToolResult> {
  try {
    const { name, inputSchema } = byHandle ? SHOW_APP_TOOL_WITH_SESSION : SHOW_APP_TOOL
    const { artifact, result_of: resultOf, session: handle } = readArguments(args, { name, ...inputSchema }).args
    const shown =
      typeof artifact === 'string'
        ? await artifactApp(artifact, conversation)
        : typeof resultOf === 'string'
          ? await conversation.sessions.use(byHandle ? handleFrom(handle) : undefined, (session) =>
              serverApp(resultOf, conversation, session),
            )
          : undefined
    if (!shown) {
      throw new BridgeError('TOOL_ARGUMENTS_INVALID', 'Pass `artifact` or `result_of`, a text', {
        hint: 'Results of run_python say what can be shown.',
      })
    }
    const limits = 'It cannot call tools or load anything, but its scripts can send text out in names of hosts.'
    return {
      content: [{ type: 'text', text: `The user sees ${noteText(shown.what)}. ${limits}` }],
      _meta: { [APP_META]: shown.app },
    }
  } catch (error) {
    return { ...renderFailure(error, { mode: 'compact', outputTokens: 1_000 }) }
  }
}

async function artifactApp(name: string, { bridge, sessions, tenant }: Conversation): Promise<Shown> {
  const found = await tenant.person.state.saved?.readResource(artifactUri(name), maskerFor(bridge, sessions))
  const { mimeType, text } = fieldsOf(found?.read.contents[0])
  if (!found || typeof text !== 'string' || typeof mimeType !== 'string' || !mimeType.startsWith('text/html')) {
    throw new BridgeError('STATE_REFUSED', `The artifact '${shortName(name)}' is not a page of HTML`, {
      hint: 'Save one with runtime.show_app(html, data).',
    })
  }
  if (text.length > MAX_PAGE_CHARS) {
    throw new BridgeError('STATE_REFUSED', `The artifact '${shortName(name)}' is too large to be shown`, {
      hint: `A page has at most ${MAX_PAGE_CHARS} characters. The user can open the artifact.`,
    })
  }
  const { data, sha256 } = found
  const reader = { tenant, seen: sessions.seen }
  await bridge.cells.read(reader, 'artifacts', { content: [{ type: 'text', text }], data, sha256 }, data.toString())
  return { what: `the artifact ${name}`, app: { html: text } }
}

/** @throws BridgeError without one: another conversation of this user may have called the same tool */
function handleFrom(handle: unknown): string {
  if (typeof handle === 'string' && handle !== '') return handle
  throw new BridgeError(
    'TOOL_ARGUMENTS_INVALID',
    "'session' is missing: pass the handle of the session that made the call",
  )
}

async function serverApp(name: string, { bridge }: Conversation, session: Session): Promise<Shown> {
  const app = await appOf(session, name, bridge)
  if (!app) {
    const names = appsOf(session).names()
    throw new BridgeError('STATE_NOT_FOUND', `No result of '${shortName(name)}' can be shown in an app`, {
      hint:
        names.length > 0 ? `There are: ${firstOf(names)}` : 'First call, in run_python, a tool that comes with an app.',
    })
  }
  const masker = bridge.maskers?.of(session)
  const { server, html, args, result } = app
  const shown = { html, args, result }
  const masked = masker ? await masker.maskedData(shown) : shown
  bridge.cells.flows.shown(session, [], server)
  return { what: `the app of ${name} with its newest result`, app: masked as Shown['app'] }
}

/** The app of a tool with its newest call. @throws BridgeError PERMISSION_DENIED if a rule denies its page by now */
async function appOf(session: Session, name: string, { sessions, cells }: Bridge): Promise<ServerApp | undefined> {
  const tenant = sessions.tenantOf(session)
  const { rules } = await tenant.now()
  const policy = await rules.readPolicyOf(tenant.person.rules)
  const app = appsOf(session).find(name)
  if (!app || !policy) return app
  const subject = rules.subject(app.reading)
  const flow = cells.flows.find(session)
  const { refuseDenied, refuseApp } = await gates.for(RULES)
  refuseDenied(policy, { ...subject, args: { uri: app.uri }, flow })
  if (flow) refuseApp(policy, JSON.stringify([app.html, app.args, app.result]), flow, app.server)
  return app
}
