// This file verifies which sessions are kept, which are ended to make room, and when an unused session ends.
import { beforeEach, expect, it, vi } from 'vitest'
import type { Session } from '../../../core/src/cell/session/session.ts'
import { keptForClient } from '../../../core/src/cell/session/kept-for.ts'
import { SessionHandles } from './session-handles.ts'
import { SessionRegistry } from './session-registry.ts'

const IDLE_MS = 1_000

/** The part of a session that the registry looks at: whether it has variables. */
function makeSession(): Session & { cells: number } {
  const session = { cells: 0, describe: () => ({ cellCount: session.cells }) }
  return session as unknown as Session & { cells: number }
}

function setUp(max: number) {
  const closed: Session[] = []
  const registry = new SessionRegistry({
    open: makeSession,
    keeps: async () => false,
    close: async (session) => void closed.push(session),
    max,
  })
  const handles = new SessionHandles({ registry, user: undefined, idleMs: IDLE_MS })
  const newSession = (its = handles) =>
    its.use(undefined, async (session, handle) => {
      ;(session as unknown as { cells: number }).cells = 1
      return { session, handle: handle!()! }
    })
  const goOn = (handle: string) => handles.use(handle, async (session) => session)
  const hold = (expendable = false, user?: string) =>
    registry.hold({
      ...(user !== undefined && { user }),
      kept: keptForClient('/project'),
      idleMs: () => IDLE_MS,
      isExpendable: () => expendable,
      onEnd: () => {},
    })
  const newOf = (user: string) => {
    const its = new SessionHandles({ registry, user, idleMs: IDLE_MS })
    return () => newSession(its)
  }
  return { registry, handles, closed, newSession, newOf, goOn, hold }
}

beforeEach(() => void vi.useFakeTimers())

it('a session handle leads to its session only', async () => {
  const { newSession, goOn } = setUp(5)
  const [a, b] = [await newSession(), await newSession()]
  expect(await goOn(a.handle)).toBe(a.session)
  expect(await goOn(b.handle)).toBe(b.session)
  expect(a.session).not.toBe(b.session)
  for (const wrong of ['', a.handle.slice(1), `${a.handle} `, '__proto__', 'constructor']) {
    await expect(goOn(wrong)).rejects.toMatchObject({ code: 'SESSION_UNKNOWN' })
  }
})

it('a session handle has at least 128 bits, and is unlike any other', async () => {
  const { newSession } = setUp(1_000)
  const all = new Set<string>()
  for (let count = 0; count < 500; count += 1) all.add((await newSession()).handle)
  expect(all.size).toBe(500)
  for (const handle of all) expect(Buffer.from(handle, 'base64url').length * 8).toBeGreaterThanOrEqual(128)
})

it('a session handle expires when it is not used for a while; each use renews it', async () => {
  const { newSession, goOn, closed } = setUp(5)
  const { session, handle } = await newSession()
  await vi.advanceTimersByTimeAsync(IDLE_MS - 1)
  await goOn(handle)
  await vi.advanceTimersByTimeAsync(IDLE_MS - 1)
  expect(closed).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(closed).toEqual([session])
  await expect(goOn(handle)).rejects.toMatchObject({ code: 'SESSION_UNKNOWN' })
})

it('a session handle is dropped when its first call failed', async () => {
  const { handles, closed } = setUp(5)
  let handle = ''
  const failing = handles.use(undefined, (_session, newHandle) => {
    handle = newHandle!()!
    return Promise.reject(new Error('no sandbox'))
  })
  await expect(failing).rejects.toThrow('no sandbox')
  expect(closed).toHaveLength(1)
  await expect(handles.use(handle, () => Promise.resolve())).rejects.toMatchObject({ code: 'SESSION_UNKNOWN' })
})

it('a session that no one came back to is ended for a new one at the limit, the oldest first', async () => {
  const { newSession, goOn, closed } = setUp(3)
  const [wanted, first, second] = [await newSession(), await newSession(), await newSession()]
  await goOn(wanted.handle)
  await newSession()
  expect(closed).toEqual([first.session])
  await newSession()
  expect(closed).toEqual([first.session, second.session])
  expect(await goOn(wanted.handle)).toBe(wanted.session)
})

it('a session without variables is ended before others at the limit', async () => {
  const { hold, newSession, closed } = setUp(2)
  const one = await newSession()
  const empty = hold()
  await newSession()
  expect(closed).toEqual([empty.session])
  expect(closed).not.toContain(one.session)
})

it('a user who opens many sessions ends their own, and those of others only while these have two more', async () => {
  const { newOf, closed } = setUp(3)
  const [ann, bob] = [newOf('ann'), newOf('bob')]
  const anns = await ann()
  const bobs = [await bob(), await bob(), await bob()]
  expect(closed).toEqual([bobs[0]!.session])
  expect(closed).not.toContain(anns.session)
  await newOf('carl')()
  expect(closed).toEqual([bobs[0]!.session, bobs[1]!.session])
  // As many each: nobody's variables are ended for another user.
  await expect(newOf('dora')()).rejects.toMatchObject({ code: 'SESSION_LIMIT' })
  await ann()
  expect(closed.slice(2)).toEqual([anns.session])
})

it('a session without variables is ended for a user who has fewer, and for no one else', async () => {
  const { hold, newOf, closed } = setUp(3)
  const ann = newOf('ann')
  const ofBob = hold(true, 'bob')
  await ann()
  await ann()
  await ann()
  expect(closed).toHaveLength(1)
  expect(closed).not.toContain(ofBob.session)
  hold(true, 'eve')
  expect(closed.slice(1)).toEqual([ofBob.session])
})

it('a session in use, or with variables that a client came back to, is never ended for a new one', async () => {
  const { hold, newSession, goOn, closed } = setUp(2)
  const { handle } = await newSession()
  await goOn(handle)
  const leave = hold().enter()
  await expect(newSession()).rejects.toMatchObject({ code: 'SESSION_LIMIT' })
  expect(closed).toEqual([])
  leave()
  await newSession()
  expect(closed).toHaveLength(1)
})

it('a session in use does not expire', async () => {
  const { hold, closed } = setUp(1)
  const held = hold()
  const [leave, leaveToo] = [held.enter(), held.enter()]
  leave()
  leave()
  await vi.advanceTimersByTimeAsync(10 * IDLE_MS)
  expect(closed).toEqual([])
  leaveToo()
  await vi.advanceTimersByTimeAsync(IDLE_MS)
  expect(closed).toEqual([held.session])
  await held.end()
  expect(closed).toHaveLength(1)
})

it('an ended session takes no place, even if a request still uses it', async () => {
  const { hold, closed } = setUp(1)
  const held = hold()
  await held.end()
  held.enter()
  hold()
  expect(closed).toEqual([held.session])
  expect(() => hold()).not.toThrow()
})
