// Every field of every frame between bridge and kernel, once. From these tables follow the types, the checks of what a
// kernel sends, and the kernel's frame_types.py, which `npm run schema` writes. docs/protocol.md has the rules. Pure.
import {
  ANY,
  BOOLEAN,
  type Fields,
  integer,
  listOf,
  NUMBER,
  object,
  type ObjectOf,
  oneOf,
  only,
  record,
  TEXT,
  textOf,
  type TypeOf,
} from './field-kinds.ts'

export const PROTOCOL_VERSION = 1

/** The longest frame, its LF included. */
export const MAX_FRAME_BYTES = 64 * 1024 * 1024

const WORD = textOf(100)
const CELL = integer(0)
const CALL_ID = integer(1)
// No real value has as many representations.
const MIME_BUNDLE = record('MIME types', 100)

const STREAM = oneOf('stdout', 'stderr')

const CELL_ERROR = object('CellError', {
  name: TEXT, // of the exception's class
  message: TEXT,
  traceback: TEXT, // shows the cell's own lines
  'values?': TEXT, // of the names on the line that failed, shortened
  'hint?': TEXT,
  'search?': TEXT, // words to find tools that can do what the sandbox cannot
})

/** How a cell ended. */
const OUTCOME = {
  status: oneOf('ok', 'error', 'interrupted'),
  'value?': MIME_BUNDLE, // what the last expression showed, with at least `text/plain`
  'error?': CELL_ERROR, // only with the status `error` or `interrupted`
} as const satisfies Fields

export const KERNEL_FRAMES = {
  ready: {
    protocol: integer(0),
    python: WORD, // the Python version
    platform: WORD, // `sys.platform`
  },
  output: {
    cell: CELL,
    stream: STREAM,
    text: TEXT, // bytes that are not UTF-8 are replaced by U+FFFD
  },
  display: {
    cell: CELL,
    data: MIME_BUNDLE,
    'id?': textOf(200), // it replaces what the cell has displayed with the same id
  },
  clear: {
    cell: CELL,
    wait: BOOLEAN, // whether to clear only when the cell shows more
  },
  call: {
    id: CALL_ID,
    cell: CELL,
    method: WORD,
    params: ANY, // an object, which the method checks
  },
  cancel: { id: CALL_ID },
  progress: { cell: CELL, done: NUMBER, 'total?': NUMBER, 'message?': TEXT },
  done: {
    cell: CELL,
    ...OUTCOME,
    'notes?': listOf(TEXT, 100), // for the reader, such as cancelled tasks; shown as `[kernel: …]`
    'uninterrupted?': BOOLEAN, // true: no interrupt reached the cell, so its `status` counts
  },
} as const satisfies Record<string, Fields>

/** Parts of frames that the kernel's code has a name for. */
export const NAMED_PARTS = { Stream: STREAM, Outcome: object('Outcome', OUTCOME) }

const VISIBLE_SERVER = object('VisibleServer', {
  name: TEXT,
  alias: TEXT, // its name in Python: `mcp_<alias>`
  'description?': TEXT,
  'loaded?': only(false), // the cell knows of the server but cannot reach it: its call did not name it
})

const ABSENT_PACKAGE = object('AbsentPackage', {
  name: TEXT,
  reason: TEXT, // why it is missing, in one line without a period
})

const REPLY_ERROR = object('ReplyError', {
  code: TEXT, // one of docs/errors.md
  message: TEXT,
  'hint?': TEXT,
  'data?': ANY, // details, depending on the code
})

const LOST = oneOf('ended', 'exited', 'fresh', 'idle', 'reset')

export const BRIDGE_FRAMES = {
  run: {
    cell: CELL,
    code: TEXT,
    'servers?': listOf(VISIBLE_SERVER), // what this cell may reach; missing means "as in the run before"
    'named?': only(true), // the client named the cell's servers, so others may be missing
    'lost?': LOST, // why earlier variables are gone: for hints
    'missing?': listOf(ABSENT_PACKAGE), // configured packages that the sandbox does not have, for the hint of an import
    'json?': only(true), // requests values as `application/json` too, if they have that form and are not long
    'compat?': only(true), // gives cells the forms of mcp-server-code-execution-mode
    'language?': oneOf('bash', 'javascript'), // of `code`; missing means Python
    'projects?': TEXT, // the revision of the files in `/projects` that the bridge has
    'checkpoint?': only(true), // requests `save_checkpoint` when the cell is over
    'restore?': TEXT, // the `data` of an earlier kernel's `save_checkpoint`, to restore before the cell runs
  },
  reply: {
    id: CALL_ID, // of the call
    'value?': ANY,
    'error?': REPLY_ERROR,
  },
} as const satisfies Record<string, Fields>

type FramesOf<T extends Record<string, Fields>> = { [K in keyof T]: { type: K } & ObjectOf<T[K]> }
type KernelFrames = FramesOf<typeof KERNEL_FRAMES>
type Reply = FramesOf<typeof BRIDGE_FRAMES>['reply']

export type KernelFrame = KernelFrames[keyof KernelFrames]
export type ReadyFrame = KernelFrames['ready']
export type CallFrame = KernelFrames['call']
export type ProgressFrame = KernelFrames['progress']
export type DoneFrame = KernelFrames['done']
/** Maps MIME types to content: text and JSON as they are, binary types in base64. */
export type MimeBundle = TypeOf<typeof MIME_BUNDLE>

export type RunFrame = FramesOf<typeof BRIDGE_FRAMES>['run']
export type VisibleServer = TypeOf<typeof VISIBLE_SERVER>
export type ReplyError = TypeOf<typeof REPLY_ERROR>
export type LostReason = TypeOf<typeof LOST>
/** With a value or an error, never both. */
export type ReplyFrame =
  | { type: 'reply'; id: Reply['id']; value: unknown }
  | { type: 'reply'; id: Reply['id']; error: ReplyError }
export type BridgeFrame = RunFrame | ReplyFrame
