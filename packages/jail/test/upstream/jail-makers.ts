// What makes jails, for tests of each.
import { findJailMaker } from '../../src/jail-maker.ts'
import type { JailMakerName } from '../../../core/src/isolation/jail-part.ts'

/** Each with why it cannot be tested here; undefined where it can. */
export const JAIL_MAKERS = await Promise.all(
  (['bubblewrap', 'podman', 'docker'] as const).map(async (maker): Promise<[JailMakerName, string | undefined]> => [
    maker,
    await whyNot(maker),
  ]),
)

async function whyNot(maker: JailMakerName): Promise<string | undefined> {
  const found = await findJailMaker(undefined, [maker])
  if (typeof found !== 'string') return undefined
  if ((process.env['SANDBRIDGE_TEST_ENGINES'] ?? '').includes(maker)) throw new Error(found)
  return found
}
