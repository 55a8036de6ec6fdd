// Every frame between bridge and kernel, once. From these tables follow the types, the checks of what a kernel sends,
// and what `npm run schema` writes: tables of docs/protocol.md, and the kernel's frame_types.py. Pure.
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
const CALL_ID = integer(1)
// No real value has as many representations.
const MIME_BUNDLE = record('MIME types', 100)

const STREAM = oneOf('stdout', 'stderr')

const cell = (meaning: string) => [integer(0), meaning] as const

const CELL_ERROR = object('CellError', {
  name: [TEXT, "the name of the exception's class"],
  message: [TEXT, 'the exception as text'],
  traceback: [TEXT, "the traceback, which shows the cell's own lines"],
  'values?': [TEXT, 'values of the names on the line that failed, shortened'],
  'hint?': [TEXT, 'what to do next'],
  'search?': [TEXT, 'words to find tools that can do what the sandbox cannot'],
})

/** How a cell ended. */
const OUTCOME = {
  status: [oneOf('ok', 'error', 'interrupted'), 'how it ended'],
  'value?': [MIME_BUNDLE, 'what the last expression showed, with at least `text/plain`'],
  'error?': [CELL_ERROR, 'only with the status `error` or `interrupted`'],
} as const satisfies Fields

export const KERNEL_FRAMES = {
  ready: {
    protocol: [integer(0), 'the protocol version'],
    python: [WORD, 'the Python version'],
    platform: [WORD, '`sys.platform`'],
  },
  output: {
    cell: cell('the cell that printed it'),
    stream: [STREAM, 'where the cell printed it'],
    text: [TEXT, 'the text; bytes that are not UTF-8 are replaced by U+FFFD'],
  },
  display: {
    cell: cell('the cell that shows it'),
    data: [MIME_BUNDLE, 'a MIME bundle: types, each with its content'],
    'id?': [textOf(200), 'it replaces what the cell has displayed with the same id'],
  },
  clear: {
    cell: cell('the cell that takes back its output and its displays'),
    wait: [BOOLEAN, 'whether to do so when the cell shows more'],
  },
  call: {
    id: [CALL_ID, 'the number of the call, which its `reply` repeats'],
    cell: cell('the cell that calls'),
    method: [WORD, 'one of [Methods](#methods)'],
    params: [ANY, 'an object with the params of that method'],
  },
  cancel: { id: [CALL_ID, 'the number of the call'] },
  progress: {
    cell: cell('the cell that reports it'),
    done: [NUMBER, 'how much is done'],
    'total?': [NUMBER, 'how much there is to do'],
    'message?': [TEXT, 'what the cell is doing'],
  },
  done: {
    cell: cell('the cell that is over'),
    ...OUTCOME,
    'notes?': [listOf(TEXT, 100), 'for the reader, such as cancelled tasks; shown as `[kernel: …]`'],
    'uninterrupted?': [BOOLEAN, 'true: no interrupt reached the cell, so its `status` counts'],
  },
} as const satisfies Record<string, Fields>

/** Parts of frames that the kernel's code has a name for. */
export const NAMED_PARTS = { Stream: STREAM, Outcome: object('Outcome', OUTCOME) }

const VISIBLE_SERVER = object('VisibleServer', {
  name: [TEXT, "the server's name"],
  alias: [TEXT, 'its name in Python: `mcp_<alias>`'],
  'description?': [TEXT, 'what the server is for'],
  'loaded?': [only(false), 'the cell knows of the server but cannot reach it: its call did not name it'],
})

const ABSENT_PACKAGE = object('AbsentPackage', {
  name: [TEXT, 'the name of the package'],
  reason: [TEXT, 'why it is missing, in one line without a period'],
})

const REPLY_ERROR = object('ReplyError', {
  code: [TEXT, "the error's code ([Errors](errors.md))"],
  message: [TEXT, 'what happened'],
  'hint?': [TEXT, 'what to do next'],
  'data?': [ANY, 'details, depending on the code'],
})

const LOST = oneOf('ended', 'exited', 'fresh', 'idle', 'reset')

export const BRIDGE_FRAMES = {
  run: {
    cell: cell('the number of the cell'),
    code: [TEXT, 'the source'],
    'servers?': [listOf(VISIBLE_SERVER), 'what this cell may reach; missing means "as in the run before"'],
    'named?': [only(true), "the client named the cell's servers, so others may be missing"],
    'lost?': [LOST, 'why earlier variables are gone: for hints'],
    'missing?': [
      listOf(ABSENT_PACKAGE),
      'configured packages that the sandbox does not have, for the hint of an import',
    ],
    'json?': [only(true), 'requests values as `application/json` too, if they have that form and are not long'],
    'compat?': [only(true), 'gives cells the forms of mcp-server-code-execution-mode ([migration](migration.md))'],
    'language?': [oneOf('bash', 'javascript'), 'of `code`; missing means Python ([Other languages](#other-languages))'],
    'projects?': [TEXT, 'the revision of the files in `/projects` that the bridge has'],
    'checkpoint?': [only(true), 'requests `save_checkpoint` when the cell is over'],
    'restore?': [TEXT, "the `data` of an earlier kernel's `save_checkpoint`, to restore before the cell runs"],
  },
  reply: {
    id: [CALL_ID, 'the number of the call'],
    'value?': [ANY, 'what the method returns'],
    'error?': [REPLY_ERROR, 'why there is no value'],
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
