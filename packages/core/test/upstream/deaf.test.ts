// This file verifies what becomes of a server that runs and does not answer any more.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { isAlive, open, raw, textOf, until } from './support.ts'
import { newFolder } from '../support/machine/new-folder.ts'

async function deafServer(callTimeoutMs?: number) {
  const folder = newFolder()
  const file = join(folder, 'file')
  let now = 0
  const definition = { ...raw('goes-deaf', file), ...(callTimeoutMs !== undefined && { callTimeoutMs }) }
  const upstreams = open([definition], { pingTimeoutMs: 150, now: () => now })
  const seen = async () => (await readFile(file, 'utf8')).trim().split('\n')
  return { upstreams, seen, pass: (ms: number) => (now += ms) }
}

it('a server that answers neither a call nor a ping is restarted for the next call, and the error says so', async () => {
  const { upstreams } = await deafServer(400)
  const first = textOf(await upstreams.callTool('goes-deaf', 'pid', {}))
  await expect(upstreams.callTool('goes-deaf', 'deafen', {})).rejects.toMatchObject({
    code: 'UPSTREAM_TIMEOUT',
    message:
      "Server 'goes-deaf' did not answer the call of 'deafen' within 0.4 s, which may or may not have taken effect. " +
      'It does not answer a ping either. Its next use restarts it',
  })
  expect(textOf(await upstreams.callTool('goes-deaf', 'pid', {}))).not.toBe(first)
  await until(() => !isAlive(Number(first)))
})

it.each([
  ['startTimeoutMs', { startTimeoutMs: 1_500 }, 1.5],
  ['callTimeoutMs', { callTimeoutMs: 400 }, 0.4],
])(
  'a list that a server never sends ends at the %s of its entry, and says that no call was sent',
  async (_, limits, s) => {
    const upstreams = open([{ ...raw('never-lists'), ...limits }])
    await expect(upstreams.listTools('never-lists')).rejects.toMatchObject({
      code: 'UPSTREAM_TIMEOUT',
      message: `Server 'never-lists' did not answer the listing of its tools within ${s} s. No call was sent`,
    })
    // Control: it answers everything else.
    expect(upstreams.of('never-lists').state).toBe('running')
  },
)

it('a server that leaves a call unanswered and answers a ping keeps running', async () => {
  const { upstreams, seen } = await deafServer(400)
  const first = textOf(await upstreams.callTool('goes-deaf', 'pid', {}))
  const error = await upstreams.callTool('goes-deaf', 'hang', {}).catch(({ message }: Error) => message)
  expect(error).toMatch(/which may or may not have taken effect$/)
  expect(await seen()).toContain('ping')
  expect(textOf(await upstreams.callTool('goes-deaf', 'pid', {}))).toBe(first)
})

it('a server is asked after a call that its caller gave up after a while, and not after one that was cancelled at once', async () => {
  const { upstreams, seen, pass } = await deafServer()
  const first = textOf(await upstreams.callTool('goes-deaf', 'pid', {}))
  const giveUpAfter = async (ms: number, tool: string) => {
    const abort = new AbortController()
    const call = upstreams.callTool('goes-deaf', tool, {}, { signal: abort.signal })
    pass(ms)
    abort.abort()
    await expect(call).rejects.toMatchObject({ code: 'CANCELLED' })
    return upstreams.of('goes-deaf').whyUnanswered()
  }
  expect(await giveUpAfter(500, 'deafen')).toBeUndefined()
  await until(async () => (await seen()).filter((what) => what === 'tools/call').length === 2)
  expect(await giveUpAfter(60_000, 'pid')).toBe(
    "Server 'goes-deaf' did not answer. It does not answer a ping either. Its next use restarts it.",
  )
  expect(textOf(await upstreams.callTool('goes-deaf', 'pid', {}))).not.toBe(first)
})
