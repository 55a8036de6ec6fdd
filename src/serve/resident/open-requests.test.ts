import { expect, it } from 'vitest'
import { OpenRequests } from './open-requests.ts'
import { kindOf, messageLine } from './protocol.ts'

const line = (message: object): Buffer => Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const read = (lines: readonly (Buffer | string)[]): unknown[] => lines.map((one) => JSON.parse(one.toString()))

const INITIALIZE = line({ id: 1, method: 'initialize', params: {} })
const INITIALIZED = line({ method: 'notifications/initialized' })
const CALL = line({ id: 2, method: 'tools/call', params: { name: 'run_python' } })
const LIST = line({ id: 'l', method: 'tools/list' })

it('a call that a lost resident had begun is answered, and not made again', () => {
  const open = new OpenRequests()
  for (const one of [INITIALIZE, INITIALIZED]) open.fromClient(one)
  open.answered('1')
  for (const one of [CALL, LIST]) open.fromClient(one)
  const told = read(open.lost(true))
  expect(told).toMatchObject([{ id: 2, result: { isError: true } }])
  // The handshake comes first, and a list may be asked for again.
  expect(open.again()).toEqual([INITIALIZE, INITIALIZED, LIST])
  // The client has had this answer.
  expect(open.answered('1')).toBe(false)
  expect(open.answered('"l"')).toBe(true)
})

it('a call that no resident has welcomed is made at the next', () => {
  const open = new OpenRequests()
  for (const one of [INITIALIZE, CALL]) open.fromClient(one)
  expect(open.lost(false)).toEqual([])
  expect(open.again()).toEqual([INITIALIZE, CALL])
  expect(open.answered('1')).toBe(true)
})

it('a question of a lost resident is cancelled before its call is answered, and an answer to it goes nowhere', () => {
  const open = new OpenRequests()
  open.fromClient(INITIALIZE)
  open.answered('1')
  open.fromClient(CALL)
  open.asked('"mark:0"')
  expect(read(open.lost(true))).toMatchObject([
    { method: 'notifications/cancelled', params: { requestId: 'mark:0' } },
    { id: 2, result: {} },
  ])
  const late = line({ id: 'mark:0', result: { action: 'accept' } })
  expect(open.fromClient(late)).toBe(false)
  // Control: while its resident runs, it is passed on, once.
  open.asked('"mark:0"')
  expect([open.fromClient(late), open.fromClient(late)]).toEqual([true, false])
})

it('the first bytes of a line tell what it is, whatever its content pretends', () => {
  const kind = (message: object) => kindOf(Buffer.from(messageLine(message)))
  const content = [{ type: 'text', text: '{"jsonrpc":"2.0","id":9,"method":"x"}'.repeat(99) }]
  expect(kind({ result: { content }, id: 'a"b' })).toEqual({ kind: 'answer', id: String.raw`"a\"b"` })
  expect(kind({ params: { id: 3 }, method: 'elicitation/create', id: 4 })).toEqual({ kind: 'request', id: '4' })
  expect(kind({ params: { id: 3 }, method: 'notifications/progress' })).toEqual({ kind: 'notification' })
})
