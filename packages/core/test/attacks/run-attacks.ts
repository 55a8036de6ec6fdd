// Makes tests of the attack list for one provider: each attack fails in a sandbox and works in an unprotected process.
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Provider } from '../../src/isolation/provider.ts'
import type { Attack } from './attack.ts'
import { openCanaries, type Canaries } from './canaries.ts'
import { attacksFor } from './list/all.ts'
import { controlVictim, sandboxVictim, type Victim } from './victims.ts'
import { isRequired } from '../support/sandboxes/engines.ts'
import { needsProgram, skip } from '../support/suite/needs.ts'
import { WHOLE } from '../support/suite/only-listed.ts'

export interface AttackedProvider {
  name: string
  /** The prepared provider, or the reason why it cannot be tested here. */
  open: () => Promise<Provider | string>
  memoryBytes: number
  /** Selects attacks, when other tests cover the rest; missing means all. */
  only?: (attack: Attack) => boolean
  /** Why an attack is not tried in this run, when others make up for it. */
  leftOut?: (attack: Attack) => string | undefined
}

/** One test per attack. Attacks share a sandbox and a control as long as these live. */
export function runAttacks({ name, open, memoryBytes, only = () => true, leftOut }: AttackedProvider): void {
  // Attacks that exhaust the machine slow down other engines' tests, which run at the same time.
  describe(`attacks on ${name}`, { timeout: 150_000 }, () => {
    let canaries: Canaries
    let provider: Provider | string
    const victims = new Map<string, Victim>()
    /** Of what kinds the canaries of this file have noticed an attack. */
    const shown = new Set<string>()

    beforeAll(async () => {
      canaries = await openCanaries()
      provider = await open()
    })
    afterAll(async () => {
      for (const victim of victims.values()) await victim.close()
      await canaries?.close()
    })

    const victim = async (kind: string, make: () => Victim | Promise<Victim>): Promise<Victim> => {
      const known = victims.get(kind)
      if (known && !known.ended) return known
      const fresh = await make()
      victims.set(kind, fresh)
      return fresh
    }

    const kinds = new Set<string>()
    for (const attack of attacksFor(name).filter(only)) {
      // Of each kind, the first tier tries one, with its control.
      const tags = kinds.has(attack.kind) ? [WHOLE] : []
      kinds.add(attack.kind)
      it(`the attack fails: ${attack.kind}: ${attack.name}`, { tags }, async () => {
        if (typeof provider === 'string') skip(provider)
        const reason = leftOut?.(attack)
        if (reason !== undefined) skip(reason)
        // It shows that the attack works.
        if (attack.control === 'python') needsProgram('python3')
        const why = whyNoControl(attack)
        if (why !== undefined) skip(why)
        const guarded = provider
        const sandbox = await victim('sandbox', async () => awake(sandboxVictim(await guarded.start({ memoryBytes }))))
        const inside = await sandbox.run(canaries.preamble() + attack.code)
        expect(await canaries.traces(inside), inside).toBeUndefined()

        const kind = `${attack.kind} ${attack.control}`
        if (isShownElsewhere(name, attack) && shown.has(kind)) return
        shown.add(kind)
        const control = await victim(attack.control, () => controlVictim(attack.control, canaries.env))
        const outside = await control.run(canaries.preamble() + attack.code)
        expect(await canaries.traces(outside), `the attack must work without protection, but: ${outside}`).toBeDefined()
      })
    }
  })
}

/**
 * Whether another run of the list shows that the attack works without protection, which has nothing to do with the
 * provider. This one then shows it once for each kind: that its own canaries notice.
 */
const isShownElsewhere = (name: string, attack: Attack): boolean =>
  isRequired(SHOWS_ALL) && name !== SHOWS_ALL && attacksFor(SHOWS_ALL).includes(attack)

const SHOWS_ALL = 'bubblewrap'

/** Fails when the sandbox does not start: a dead one would withstand every attack. */
async function awake(sandbox: Victim): Promise<Victim> {
  expect(await sandbox.run("print('awake')")).toContain('awake')
  return sandbox
}

/** Why the attack's control cannot run on this machine. */
function whyNoControl({ root, route, machine }: Attack): string | undefined {
  if (root && process.getuid?.() !== 0) return 'only root can show that the attack works'
  if (machine !== undefined && machine !== process.arch) return `an attack on ${machine} processors`
  const connected = Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ internal }) => !internal))
  return route && !connected ? 'this machine has no network that the attack could reach' : undefined
}
