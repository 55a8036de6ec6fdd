// All attacks in one list.
import type { Attack } from '../attack.ts'
import { exhaustionAttacks } from './exhaustion.ts'
import { hostAttacks } from './host.ts'
import { javascriptAttacks } from './javascript.ts'
import { linuxChannelAttacks } from './linux-channel.ts'
import { linuxExhaustionAttacks } from './linux-exhaustion.ts'
import { linuxHostAttacks } from './linux-host.ts'
import { linuxFirstProcessAttacks } from './linux-first-process.ts'
import { linuxKernelAttacks } from './linux-kernel.ts'
import { linuxMemoryAttacks } from './linux-memory.ts'
import { linuxNetworkAttacks } from './linux-network.ts'
import { nativeAttacks } from './native.ts'
import { networkAttacks } from './network.ts'

const ALL_ATTACKS: Attack[] = [
  ...javascriptAttacks,
  ...nativeAttacks,
  ...networkAttacks,
  ...hostAttacks,
  ...exhaustionAttacks,
  ...linuxKernelAttacks,
  ...linuxHostAttacks,
  ...linuxNetworkAttacks,
  ...linuxChannelAttacks,
  ...linuxExhaustionAttacks,
  ...linuxMemoryAttacks,
  ...linuxFirstProcessAttacks,
]

/** The attacks that apply to a provider. */
export function attacksFor(provider: string): Attack[] {
  return ALL_ATTACKS.filter((attack) => attack.providers === undefined || attack.providers.includes(provider))
}
