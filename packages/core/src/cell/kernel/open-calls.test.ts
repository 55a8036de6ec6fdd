import { PassThrough } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { BridgeError } from '../../errors.ts'
import { beginLongWork } from '../../util/async/wait.ts'
import type { CallFrame, ReplyFrame } from '../protocol/frames.ts'
import { OpenCalls, replyError } from './open-calls.ts'
import { ReplyRoom } from './reply-room.ts'

const MORE = 'More: `sandbridge log 3f09a1b2`.'

it.each([
  ['Correct the command in /home/ann/MCPs/servers.json', `Correct the command in /home/ann/MCPs/servers.json. ${MORE}`],
  ['Retry later.', `Retry later. ${MORE}`],
  ['', MORE],
])('a reply separates the hint %j from what is added to it', (hint, expected) => {
  const error = new BridgeError('UPSTREAM_UNREACHABLE', 'It could not be started.', { hint })
  expect(replyError(error, MORE).hint).toBe(expected)
  expect(replyError(error).hint ?? '').toBe(hint)
})

it('a call of which reading took long is made in a turn of its own, and not at all when it is cancelled by then', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0)
  // What the test before has read in this turn counts as well, and may have begun one more.
  await nextTurn()
  await nextTurn()
  const made: unknown[] = []
  const replies: ReplyFrame[] = []
  const calls = new OpenCalls(new ReplyRoom(new PassThrough()), (frame) => void replies.push(frame))
  const call = (id: number) => {
    const frame: CallFrame = { type: 'call', id, cell: 1, method: 'm', params: {} }
    void calls.answer(frame, 1, { onCall: () => void made.push(id) })
  }
  call(1)
  expect(made).toEqual([1])
  now.mockReturnValue(1_000)
  beginLongWork()
  now.mockReturnValue(1_100)
  call(2)
  call(3)
  calls.cancel(3)
  await Promise.resolve()
  expect(made).toEqual([1])
  await nextTurn()
  await nextTurn()
  expect([made, replies.map(({ id }) => id).toSorted((a, b) => a - b)]).toEqual([
    [1, 2],
    [1, 2],
  ])
  now.mockRestore()
})
