// Opens a connection to an upstream with the remembered transport and era, or tries them in turn. A failed attempt
// leaves nothing behind.
import type { SignInPlace } from '../auth/callback.ts'
import type { RemoteServer, ServerDefinition, StdioServer } from '../../config/entries/server-definition.ts'
import type { ClientContext } from '../../config/settings/client-context.ts'
import { BridgeError } from '../../errors.ts'
import type { CallStart, Connection } from '../connection/connection.ts'
import type { JailPlace } from '../../isolation/jail/open-jail.ts'
import type { InstallLimits } from '../stdio/launcher/install-watch.ts'
import type { Installation, InstallNews } from '../stdio/launcher/installation.ts'
import { packageLaunch } from '../stdio/launcher/package-launch.ts'
import { type ProcessKeeper, spawnServer } from '../stdio/server-process.ts'
import type { RemoteOptions } from '../remote/dial-remote.ts'
import { dialProcess, type Link, type Via } from '../dial.ts'
import { startFailure, type Failure } from '../failures/failures.ts'
import { type Circumstances } from '../failures/circumstances.ts'
import { handshake, type Era, type HandshakeOptions } from '../connection/handshake.ts'
import type { Callers } from './callers.ts'
import { commandLine, shellWord } from '../../config/secrets/command-line.ts'
import type { Redactor } from '../../config/secrets/redact.ts'
import { loadSdk } from '../connection/sdk.ts'
import { untilAborted } from '../../util/async/wait.ts'
import type { NegotiatedTransport, NegotiatedTransports } from './negotiated-transports.ts'

export interface OpenOptions
  extends
    Omit<HandshakeOptions, 'sdk' | 'link' | 'era' | 'about' | 'callStart' | 'onClose' | 'onClosing'>,
    Omit<RemoteOptions, 'sdk' | 'env'> {
  definition: ServerDefinition
  signInPlace: SignInPlace | undefined
  /** The definition's transport with its placeholders filled in. */
  transport: StdioServer | RemoteServer
  redact: Redactor
  /** The working directory of a local server without a `cwd`, and the variables that it inherits. */
  context: Pick<ClientContext, 'env' | 'cwd' | 'home'>
  /** Where jails are made; undefined when no server can be jailed. */
  jailPlace: () => JailPlace | undefined
  negotiatedTransports: NegotiatedTransports
  /** The server's last log messages, redacted, optionally after a position. */
  logged: (after?: number) => string
  loggedCount: () => number
  /** The callers that the server may be working for. */
  callers: Callers
  onClose: (about: Circumstances) => void
  /** Called again and again while a package manager installs the server. */
  onInstalling: (news: InstallNews) => void
  installLimits?: Partial<InstallLimits> | undefined
}

interface Approach {
  via: Via
  era: Era
}

const MAX_PROGRAM_CHARS = 200
const INSTALL_LIMITS = { firstMs: 30_000, quietMs: 30_000, maxMs: 15 * 60_000, lookMs: 1000 }

/**
 * Almost all stdio servers support the legacy era, and asking about another one costs a process; a remote server is
 * asked which it supports.
 */
const APPROACHES: Record<Via, Approach[]> = {
  stdio: [
    { via: 'stdio', era: 'legacy' },
    { via: 'stdio', era: 'modern' },
  ],
  http: [
    { via: 'http', era: 'auto' },
    { via: 'sse', era: 'legacy' },
  ],
  sse: [
    { via: 'sse', era: 'legacy' },
    { via: 'http', era: 'auto' },
  ],
}

/** Thrown for a failed start: show `failure.error`. */
export class StartFailedError extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.error.message)
    this.failure = failure
  }
}

/** @throws StartFailedError, BridgeError SHUTTING_DOWN */
export async function openUpstream(options: OpenOptions): Promise<Connection> {
  const remembered = await options.negotiatedTransports.get(options.definition)
  const installation = await beginInstallation(options, remembered === undefined)
  try {
    return await openIn(options, remembered, installation)
  } finally {
    void installation?.over()
  }
}

/** Undefined for a server that no package manager starts on this machine. @throws BridgeError SHUTTING_DOWN */
async function beginInstallation(
  { definition, context, transport, jailPlace, timeoutMs, installLimits, onInstalling, signal }: OpenOptions,
  isFirst: boolean,
): Promise<Installation | undefined> {
  const place = jailPlace()
  if (transport.type !== 'stdio' || place?.startProgram) return undefined
  const launch = packageLaunch(transport.command, transport.args)
  if (!launch) return undefined
  const { Installation: Begun } = await import('../stdio/launcher/installation.ts')
  const { jailHome } = await import('../../isolation/jail/open-jail.ts')
  return Begun.begin({
    launch,
    context,
    env: transport.env,
    jailHome: transport.sandbox && place && jailHome(definition.name, place.stateDir),
    isFirst,
    limits: { ...INSTALL_LIMITS, ...installLimits, timeoutMs },
    onNews: onInstalling,
    signal,
  }).catch(() => {
    throw shuttingDown()
  })
}

async function openIn(
  options: OpenOptions,
  remembered: NegotiatedTransport | undefined,
  installation: Installation | undefined,
): Promise<Connection> {
  let first: Failure | undefined
  for (const approach of inOrder(options.transport.type, remembered)) {
    const outcome = await attempt(options, approach, installation)
    if ('connection' in outcome) {
      const found: NegotiatedTransport = { via: approach.via, era: outcome.connection.era }
      if (found.via !== remembered?.via || found.era !== remembered.era)
        options.negotiatedTransports.set(options.definition, found)
      return outcome.connection
    }
    if (options.signal.aborted) throw shuttingDown()
    // The first refusal is more useful than those of eras and transports that the server may not support.
    first ??= outcome.failure
    if (!outcome.failure.refused)
      throw new StartFailedError(first.refused && outcome.failure !== first ? first : outcome.failure)
  }
  throw new StartFailedError(first!)
}

function shuttingDown(): BridgeError {
  return new BridgeError('SHUTTING_DOWN', 'The bridge is shutting down')
}

function inOrder(type: Via, remembered: NegotiatedTransport | undefined): Approach[] {
  const known = APPROACHES[type]
  if (!remembered || !known.some(({ via }) => via === remembered.via)) return known
  const same = ({ via, era }: Approach): boolean => via === remembered.via && era === remembered.era
  return [remembered, ...known.filter((approach) => !same(approach))]
}

async function attempt(
  options: OpenOptions,
  { via, era }: Approach,
  installation: Installation | undefined,
): Promise<{ connection: Connection } | { failure: Failure }> {
  const { definition, redact, timeoutMs } = options
  const written = definition.transport
  const process =
    written.type === 'stdio' ? { program: shellWord(written.command, MAX_PROGRAM_CHARS), cwd: written.cwd } : {}
  let link: Link | undefined
  const words = (since: CallStart | undefined): Pick<Circumstances, 'stderrTail' | 'logged'> => {
    if (!since) return { stderrTail: link?.stderrTail?.(), logged: options.logged() }
    // Output since then may belong to a call of another session.
    if (!options.callers.wereAlone(since.sequence)) return {}
    return { stderrTail: link?.stderrTail?.(since.said), logged: options.logged(since.loggedCount) }
  }
  const about = (since?: CallStart): Circumstances => ({
    server: definition.name,
    signInPlace: options.signInPlace,
    redact,
    remote: via !== 'stdio',
    command: commandLine(written),
    file: definition.source.file,
    ...process,
    usesClientCredentials: options.transport.type !== 'stdio' && options.transport.oauth !== undefined,
    exit: link?.exit?.(),
    endedFor: link?.endedFor?.(),
    installation: installation?.facts,
    ...words(since),
  })
  const callStart = (): CallStart => ({
    sequence: options.callers.sequence,
    said: link?.said?.(),
    loggedCount: options.loggedCount(),
  })
  // A process that the bridge ends after a timeout exits, too, but its exit is not the reason.
  let exitBefore: Circumstances['exit']
  try {
    const sdk = await loadSdk()
    options.signal.throwIfAborted()
    link = await dial(options, via, sdk, installation)
    const opened = link
    const connection = await handshake({
      ...options,
      ...(installation && { timeoutMs: INSTALL_LIMITS.maxMs, expired: installation.expired }),
      sdk,
      link,
      era,
      about,
      callStart,
      onClose: () => options.onClose(about()),
      onClosing: () => (exitBefore ??= opened.exit?.()),
    })
    return { connection }
  } catch (error) {
    return { failure: startFailure(error, { ...about(), exit: exitBefore }, timeoutMs) }
  }
}

async function dial(
  options: OpenOptions,
  via: Via,
  sdk: RemoteOptions['sdk'],
  keeper: ProcessKeeper | undefined,
): Promise<Link> {
  const { transport } = options
  if (transport.type === 'stdio') return dialLocal(options, transport, keeper)
  const { dialRemote } = await import('../remote/dial-remote.ts')
  const { allowLinkLocal, context, authProvider } = options
  return dialRemote(transport, via === 'sse' ? 'sse' : 'http', {
    sdk,
    allowLinkLocal,
    env: context.env,
    ...(authProvider && { authProvider }),
  })
}

async function dialLocal(
  { definition, jailPlace, context, signal }: OpenOptions,
  server: StdioServer,
  keeper: ProcessKeeper | undefined,
): Promise<Link> {
  const { name } = definition
  const { sandbox } = server
  const place = jailPlace()
  if (place?.startProgram) {
    const [{ programInPod }, { startInPod }] = await Promise.all([
      import('../../isolation/jail/server-pod.ts'),
      import('../stdio/pod-process.ts'),
    ])
    const inPod = await startInPod(programInPod(name, server, place.image), place.startProgram)
    const end = () => inPod.end()
    // A pod has its own start timeout: the node may have to pull its image first.
    await untilAborted(inPod.started, signal).catch((error: unknown) => {
      void end()
      throw error
    })
    return dialProcess(() => inPod, end)
  }
  if (!sandbox) return dialProcess(() => spawnServer(server, context, undefined, keeper))
  if (!place) throw new BridgeError('UPSTREAM_JAIL_UNAVAILABLE', 'This process makes no jails')
  const { openJail } = await import('../../isolation/jail/open-jail.ts')
  const jail = await openJail(definition, { ...server, sandbox }, context, place)
  return dialProcess(() => spawnServer(server, context, jail.launch, keeper), jail.release)
}
