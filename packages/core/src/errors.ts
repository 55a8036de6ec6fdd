// Every error that the bridge itself raises: who acts on it and what to do next. docs/errors.md documents each code; a
// test compares the two. A failing cell is not an error but a CellResult. Pure.

/** Who can act on an error. */
type Actor = 'model' | 'user' | 'operator' | 'us'

interface ErrorKind {
  actor: Actor
  /** What to do next. A hint given with the error itself takes precedence. */
  hint: string
}

export const ERROR_CODES = {
  CONFIG_INVALID: { actor: 'user', hint: 'Correct the setting and start again.' },
  SANDBOX_ENGINE_MISSING: {
    actor: 'user',
    hint: 'Set MCP_BRIDGE_RUNTIME=pyodide to use the embedded sandbox, or install the engine.',
  },
  SANDBOX_START_FAILED: { actor: 'operator', hint: 'Run `sandbridge doctor` to see what is wrong.' },
  SANDBOX_START_TIMEOUT: { actor: 'operator', hint: 'The machine may be overloaded. Retry later.' },
  SANDBOX_BUSY: { actor: 'operator', hint: 'Retry when another sandbox has ended.' },
  SANDBOX_IMAGE_MISSING: { actor: 'user', hint: 'Build it with `sandbridge image build slim`.' },
  KERNEL_DIED: { actor: 'model', hint: 'All variables are gone. The next cell runs in a fresh session.' },
  PROTOCOL_VERSION_MISMATCH: {
    actor: 'us',
    hint: 'Reinstall sandbridge: its bridge and kernel are different versions.',
  },
  FRAME_INVALID: { actor: 'us', hint: 'Please report it.' },
  FRAME_TOO_LARGE: { actor: 'model', hint: 'Request less data at a time: use paging, filters or a smaller range.' },
  UPSTREAM_UNREACHABLE: {
    actor: 'user',
    hint: 'The next use restarts the server. See its state with `sandbridge servers NAME`.',
  },
  UPSTREAM_JAIL_UNAVAILABLE: {
    actor: 'user',
    hint: 'Install bubblewrap, podman or docker. `sandbridge doctor` says what works here.',
  },
  UPSTREAM_TIMEOUT: { actor: 'model', hint: 'Look before you repeat it, or request less data.' },
  UPSTREAM_PROTOCOL: { actor: 'operator', hint: 'The server violated the MCP protocol. Report it to its author.' },
  UPSTREAM_AUTH_REQUIRED: {
    actor: 'user',
    hint: 'Run `sandbridge login NAME`, or correct the credentials in the server’s headers.',
  },
  PROXY_SERVER_UNAVAILABLE: { actor: 'model', hint: 'See runtime.discovered_servers().' },
  PROXY_TOOL_UNKNOWN: { actor: 'model', hint: 'See await runtime.query_tool_docs(server).' },
  PERMISSION_DENIED: { actor: 'user', hint: 'The rules in force: `sandbridge permissions`.' },
  PROXY_ARGUMENTS_INVALID: { actor: 'model', hint: 'Compare the call with the tool’s signature.' },
  PROXY_METHOD_UNKNOWN: { actor: 'model', hint: 'docs/protocol.md lists the methods.' },
  CALL_NOT_AWAITED: { actor: 'model', hint: 'Write `await` before the call.' },
  PROXY_TOO_MANY_CALLS: { actor: 'model', hint: 'Await some of the open calls first.' },
  PROXY_ANSWERS_UNREAD: { actor: 'model', hint: 'Await fewer calls at a time.' },
  CALL_INTERRUPTED: { actor: 'model', hint: 'Find out whether it took effect before you repeat it.' },
  OUTCOME_UNKNOWN: { actor: 'model', hint: 'Find out first, then use runtime.again(…) if it must be made.' },
  TOOL_FAILED: { actor: 'model', hint: 'The message comes from the tool.' },
  CANCELLED: { actor: 'model', hint: '' },
  TOOL_ARGUMENTS_INVALID: { actor: 'model', hint: 'Correct the arguments and call the tool again.' },
  OUTPUT_UNKNOWN: { actor: 'model', hint: 'Run the cell again.' },
  QUOTA_EXCEEDED: { actor: 'operator', hint: 'Retry when the hour is over.' },
  SESSION_LIMIT: { actor: 'operator', hint: 'Wait for a running cell to finish.' },
  MASK_UNAVAILABLE: {
    actor: 'user',
    hint: 'Start the endpoint of the setting sandbox.maskEndpoint, or remove that setting and start the bridge again.',
  },
  SHUTTING_DOWN: { actor: 'user', hint: 'Retry when the bridge has restarted.' },
  STATE_DAMAGED: { actor: 'user', hint: 'Restore the file from a backup, or save it again.' },
  STATE_NOT_FOUND: { actor: 'model', hint: 'See runtime.artifacts() and runtime.list_saved_tools().' },
  STATE_REFUSED: { actor: 'model', hint: 'Correct what the message names, then save again.' },
  STATE_UNWRITABLE: {
    actor: 'operator',
    hint: 'Free space on the disk of MCP_BRIDGE_STATE_DIR, or make that folder writable.',
  },
  UPSTREAM_LINK_REQUIRED: { actor: 'user', hint: 'Ask the user to open the link. Retry when they have finished.' },
  REGISTRY_UNREADABLE: {
    actor: 'operator',
    hint: 'Check the address in MCP_BRIDGE_REGISTRIES and the network, and try again later.',
  },
  SERVER_REFUSED: { actor: 'user', hint: 'Find a server with `sandbridge find`, and add it with `sandbridge add`.' },
  SESSION_UNKNOWN: { actor: 'model', hint: 'Call run_python without `session` to start a new session.' },
} as const satisfies Record<string, ErrorKind>

export type ErrorCode = keyof typeof ERROR_CODES

export const shuttingDown = (): BridgeError => new BridgeError('SHUTTING_DOWN', 'The bridge is shutting down')

/** What to do where the system refuses a process, a file or memory, by the words of Node, Python and bubblewrap. */
const SHORTAGES: [RegExp, string][] = [
  [
    /\bEAGAIN\b|Resource temporarily unavailable|can't start new thread|uv_thread_create/,
    'This user or container may have no more processes and threads. Raise `ulimit -u`, or the limit of the container.',
  ],
  [/\bE[MN]FILE\b|[Tt]oo many open files|no more files can/, 'Allow more open files: `ulimit -n`.'],
  [/memory ran out/, 'Give the machine or its container more memory, or end other programs.'],
  // WebAssembly reserves addresses for all the memory that it may ever use.
  [/WebAssembly\.Memory\(\): could not/, 'The address space is limited, or memory is short: `ulimit -v unlimited`.'],
]

/** What to do, if the message is about a limit of the system. */
export function shortageHint(message: string): string | undefined {
  return SHORTAGES.find(([sign]) => sign.test(message))?.[1]
}

/** Errors for requests that seem valid but fail anyway. */
const UNEXPECTED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'SANDBOX_START_FAILED',
  'SANDBOX_START_TIMEOUT',
  'PROTOCOL_VERSION_MISMATCH',
  'UPSTREAM_UNREACHABLE',
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_PROTOCOL',
  'STATE_UNWRITABLE',
])

/** True if a person may have to investigate: the error's text then names the run, and the log has a line. */
export function isUnexpected(error: unknown): boolean {
  return !BridgeError.isInstance(error) || UNEXPECTED.has(error.code)
}

export interface BridgeErrorOptions {
  hint?: string
  /** What to do next, for a user at a terminal. (`hint` may tell a model to ask the user.) */
  userHint?: string
  data?: unknown
  cause?: unknown
  /** The server's last stderr output, redacted, for a person who asks for it. */
  log?: string
}

/** An error of the bridge: `message` says what happened, `hint` what to do next. Neither may contain a secret. */
export class BridgeError extends Error {
  override readonly name = 'BridgeError'
  readonly code: ErrorCode
  readonly hint: string
  readonly userHint: string | undefined
  readonly data: unknown
  readonly log: string | undefined

  constructor(code: ErrorCode, message: string, options: BridgeErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    const shortage = code.startsWith('SANDBOX_') ? shortageHint(message) : undefined
    this.hint = options.hint ?? shortage ?? ERROR_CODES[code].hint
    this.userHint = options.userHint
    this.data = options.data
    this.log = options.log
  }

  static isInstance(error: unknown): error is BridgeError {
    return error instanceof BridgeError
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
