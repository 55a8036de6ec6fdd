import { expect, it } from 'vitest'
import { BridgeError } from '../../errors.ts'
import { replyError } from './open-calls.ts'

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
