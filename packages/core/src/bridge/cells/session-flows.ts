// What the models of all sessions have read, and from whom: rules about flows depend on it.
import { flow as part, type SessionFlow, type ShownContent } from '../../calls/flow-part.ts'
import type { UserState } from '../../calls/memories-part.ts'
import type { Session } from '../../cell/session/session.ts'
import type { ServerSet } from '../tenants/server-set.ts'

/** What a client got as the result of a cell. */
export type ClientContent = readonly { type: string; text?: string; name?: string }[]

/** What a client reads of what sessions kept: its names, or its content with the SHA-256 of the whole. */
export type KeptContent = { names: string[] } | { content: ClientContent; data: Buffer; sha256: string }

export class SessionFlows {
  readonly #flows = new WeakMap<Session, SessionFlow>()

  /** Undefined while no rule has followed a cell of the session. */
  find(session: Session): SessionFlow | undefined {
    return this.#flows.get(session)
  }

  /**
   * @param seen the servers whose text its client's models have read, in any session
   * @throws BridgeError CONFIG_INVALID if this build lacks it: a rule then cannot be kept
   */
  async of(session: Session, set: ServerSet, state: UserState, seen: Set<string> | undefined): Promise<SessionFlow> {
    const made = this.#flows.get(session) ?? (await newFlow(set, state, seen))
    // Another cell may have done this first.
    const known = this.#flows.get(session) ?? made
    this.#flows.set(session, known)
    return known
  }

  /** The model is shown this. @param server whose own text is with it @param ownNotes lines of the bridge in it */
  shown(session: Session, content: ClientContent, server?: string, ownNotes: readonly string[] = []): void {
    const flow = this.find(session)
    const { text, hasMedia } = asShown(content)
    flow?.shown({ text: ownNotes.reduce((rest, note) => rest.replace(note, ''), text), hasMedia })
    if (server !== undefined) flow?.saw(server)
  }
}

/** A client reads what sessions kept, and may show it to its model. @param reader.judge throws where it may not */
export async function readKept(
  place: string,
  kept: KeptContent,
  reader: { set: ServerSet; state: UserState; seen: Set<string>; judge?: ((flow: SessionFlow) => void) | undefined },
): Promise<void> {
  const { set, state, seen, judge } = reader
  const flow = await newFlow(set, state, seen)
  if ('names' in kept) {
    await flow.lists(place, kept.names)
    flow.shown({ text: kept.names.join('\n'), hasMedia: false })
  } else {
    await flow.opens(place, [kept.data], { sha256: kept.sha256 })
    judge?.(flow)
    flow.shown(asShown(kept.content))
  }
}

async function newFlow(
  { configured, rules }: ServerSet,
  { origins }: UserState,
  seen?: Set<string>,
): Promise<SessionFlow> {
  const { SessionFlow: Flow } = await part.for('MCP_BRIDGE_FLOW or a rule about flows')
  const isTrusted = (server: string): boolean =>
    rules.trustsText(server) ||
    configured.discovered.servers.some(({ name, isOwnText }) => name === server && isOwnText === true)
  return new Flow({ isTrusted, identityOf: (server) => rules.identityOf(server) }, origins, seen)
}

/** Images, sounds and files may say anything; a link says its name. */
function asShown(content: ClientContent): ShownContent {
  return {
    text: content.map(({ text, name }) => text ?? name ?? '').join('\n'),
    hasMedia: content.some(({ type }) => type !== 'text' && type !== 'resource_link'),
  }
}
