// One attempt to reach a server: the way to it, and what is known when it or a later request fails.
import type { RemoteServer, ServerDefinition, StdioServer } from '../../config/entries/server-definition.ts'
import { commandLine, shellWord } from '../../config/secrets/command-line.ts'
import type { Redactor } from '../../config/secrets/redact.ts'
import { ownCredentials } from '../auth/own-credentials.ts'
import type { Link } from '../dial.ts'
import type { Circumstances } from '../failures/circumstances.ts'
import type { Installation } from '../installs-part.ts'
import type { OutputMark } from '../stdio/stdio-transport.ts'
import type { ServerReports } from './server-reports.ts'
import type { UpstreamPlace } from './upstream-place.ts'

/** The state of a server's output when a call began: earlier output belongs to something else. */
export interface CallStart {
  sequence: number
  said: OutputMark | undefined
  loggedCount: number
}

const MAX_PROGRAM_CHARS = 200

/** A server that is being started. */
export interface StartedServer {
  definition: ServerDefinition
  /** The definition's transport with its placeholders filled in. */
  transport: StdioServer | RemoteServer
  place: UpstreamPlace
  reports: ServerReports
}

export class Attempt {
  /** The way to the server, once it is open. */
  link: Link | undefined
  readonly definition: ServerDefinition
  readonly place: UpstreamPlace
  readonly #server: StartedServer
  readonly #installation: Installation | undefined
  /** Belongs to this start, because a later one may fill in other secrets. */
  readonly #redact: Redactor

  constructor(server: StartedServer, installation: Installation | undefined) {
    this.#server = server
    this.definition = server.definition
    this.place = server.place
    this.#installation = installation
    this.#redact = server.reports.redact
  }

  get server(): string {
    return this.definition.name
  }

  callStart(): CallStart {
    const { callers, lastLogged } = this.#server.reports
    return { sequence: callers.sequence, said: this.link?.said?.(), loggedCount: lastLogged.count }
  }

  /** The current circumstances, for errors. @param since the start of the failed call, if a call failed */
  about(since?: CallStart): Circumstances {
    const { definition, transport, place } = this.#server
    const written = definition.transport
    return {
      server: definition.name,
      signInPlace: place.signInPlace,
      redact: this.#redact,
      remote: transport.type !== 'stdio',
      errors: this.link?.errors,
      command: commandLine(written),
      file: definition.source.file,
      ...(written.type === 'stdio' && { program: shellWord(written.command, MAX_PROGRAM_CHARS), cwd: written.cwd }),
      credentials: transport.type === 'stdio' ? undefined : ownCredentials(transport),
      exit: this.link?.exit?.(),
      endedFor: this.link?.endedFor?.(),
      installation: this.#installation?.facts,
      ...this.#words(since),
    }
  }

  #words(since: CallStart | undefined): Pick<Circumstances, 'stderrTail' | 'logged'> {
    const { callers, lastLogged } = this.#server.reports
    if (!since) return { stderrTail: this.link?.stderrTail?.(), logged: lastLogged.text() }
    // Output since then may belong to a call of another session.
    if (!callers.wereAlone(since.sequence)) return {}
    return { stderrTail: this.link?.stderrTail?.(since.said), logged: lastLogged.text(since.loggedCount) }
  }
}
