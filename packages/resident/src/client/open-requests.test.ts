import { expect, it } from 'vitest'
import { OpenRequests } from './open-requests.ts'
import { kindOf, messageLine } from '../reach/protocol.ts'

const line = (message: object): Buffer => Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const read = (lines: readonly (Buffer | string)[]): unknown[] => lines.map((one) => JSON.parse(one.toString()))

const INITIALIZE = line({ id: 1, method: 'initialize', params: {} })
const INITIALIZED = line({ method: 'notifications/initialized' })
const CALL = line({ id: 2, method: 'tools/call', params: { name: 'run_python' } })
const LIST = line({ id: 'l', method: 'tools/list' })

/** @param kept results by method, as JSON @param told gets the messages that the client is told */
function openRequests(kept: Record<string, string> = {}, told: unknown[] = []): OpenRequests {
  const questionOf = (method: string) => (method === 'tools/call' ? undefined : method)
  const keeper = { questionOf, find: (method: string) => kept[method], learn: () => {} }
  return new OpenRequests(keeper, (text) => told.push(JSON.parse(text)))
}
const answered = (open: OpenRequests, id: string, result: object = {}): boolean =>
  open.answered(id, line({ id: JSON.parse(id) as unknown, result }))

it('a call that a lost resident had begun is answered, and not made again', () => {
  const open = openRequests()
  for (const one of [INITIALIZE, INITIALIZED]) open.fromClient(one)
  answered(open, '1')
  for (const one of [CALL, LIST]) open.fromClient(one)
  const told = read(open.lost(true))
  expect(told).toMatchObject([{ id: 2, result: { isError: true } }])
  // The handshake comes first, and a list may be asked for again.
  expect(open.again()).toEqual([INITIALIZE, INITIALIZED, LIST])
  // The client has had this answer.
  expect(answered(open, '1')).toBe(false)
  expect(answered(open, '"l"')).toBe(true)
})

it('a call that no resident has welcomed is made at the next', () => {
  const open = openRequests()
  for (const one of [INITIALIZE, CALL]) open.fromClient(one)
  expect(open.lost(false)).toEqual([])
  expect(open.again()).toEqual([INITIALIZE, CALL])
  expect(answered(open, '1')).toBe(true)
})

const cancelled = (requestId: unknown): Buffer => line({ method: 'notifications/cancelled', params: { requestId } })

it('a call that its client has cancelled is not made at the next resident', () => {
  const open = openRequests()
  const text = line({ id: '2', method: 'tools/call', params: { name: 'run_python' } })
  for (const one of [INITIALIZE, INITIALIZED, CALL, text]) open.fromClient(one)
  // A resident that is connected hears of it.
  expect(open.fromClient(cancelled(2))).toBe(true)
  // Control: an id that is text is another one.
  expect(open.again()).toEqual([INITIALIZE, INITIALIZED, text])
  // An answer that was on its way is passed on.
  expect(answered(open, '2')).toBe(true)
})

it('a call that its client has cancelled is not answered when its resident is lost', () => {
  const open = openRequests()
  for (const one of [INITIALIZE, INITIALIZED]) open.fromClient(one)
  answered(open, '1')
  for (const one of [CALL, cancelled(2)]) open.fromClient(one)
  expect(open.lost(true)).toEqual([])
})

it('a handshake cannot be cancelled, nor a request that has its answer', () => {
  const open = openRequests({ 'tools/list': '{"tools":[]}' })
  for (const one of [INITIALIZE, LIST, cancelled(1), cancelled('l')]) open.fromClient(one)
  expect(open.again()).toEqual([INITIALIZE, LIST])
  // The client has had this answer.
  expect(answered(open, '"l"', { tools: [] })).toBe(false)
})

it.each([undefined, null, {}, { requestId: {} }])('a cancellation of nothing changes nothing: %j', (params) => {
  const open = openRequests()
  for (const one of [INITIALIZE, CALL, line({ method: 'notifications/cancelled', params })]) open.fromClient(one)
  expect(open.again()).toEqual([INITIALIZE, CALL])
})

it('a client that has a kept answer is not answered again, and the resident hears the request all the same', () => {
  const told: unknown[] = []
  const open = openRequests({ initialize: '{"kept":1}', 'tools/list': '{"tools":[]}' }, told)
  for (const one of [INITIALIZE, INITIALIZED, LIST, CALL]) expect(open.fromClient(one)).toBe(true)
  expect(told).toMatchObject([
    { id: 1, result: { kept: 1 } },
    { id: 'l', result: { tools: [] } },
  ])
  expect(open.told).toEqual(['1', '"l"'])
  expect(open.again()).toEqual([INITIALIZE, INITIALIZED, LIST, CALL])
  expect(answered(open, '1', { kept: 1 })).toBe(false)
  expect(answered(open, '"l"', { tools: [] })).toBe(false)
  expect(answered(open, '2')).toBe(true)
  expect(told).toHaveLength(2)
  // The next resident prepares a sandbox when it hears of the list.
  open.lost(true)
  expect(open.again()).toEqual([INITIALIZE, INITIALIZED, LIST])
  expect([answered(open, '1'), answered(open, '"l"')]).toEqual([false, false])
})

it('a client whose kept list was another one is told to ask again', () => {
  const told: unknown[] = []
  const open = openRequests({ 'tools/list': '{"tools":[]}' }, told)
  open.fromClient(LIST)
  expect(answered(open, '"l"', { tools: ['new'] })).toBe(false)
  expect(told).toMatchObject([{ id: 'l' }, { method: 'notifications/tools/list_changed' }])
})

it('a question of a lost resident is cancelled before its call is answered, and an answer to it goes nowhere', () => {
  const open = openRequests()
  open.fromClient(INITIALIZE)
  answered(open, '1')
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
