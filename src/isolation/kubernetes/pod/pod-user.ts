// Chooses the user of a pod. Nodes that do not count processes per pod count them per user, so each pod gets its own
// user: a fork bomb in one does not affect others on its node. A configured number is used as it is, since some
// clusters prescribe one.
import { randomInt } from 'node:crypto'
import { BridgeError } from '../../../errors.ts'

/** The default of MCP_BRIDGE_CONTAINER_USER. */
const DEFAULT_USER = '65534'

/** @throws BridgeError CONFIG_INVALID for root, and for a name, which a cluster cannot look up in an image */
export function podUser(setting: string): { user: number; group: number } {
  const [user = '', group = user] = setting.split(':')
  if (!/^\d+$/.test(user) || !/^\d+$/.test(group) || Number(user) === 0) {
    throw new BridgeError('CONFIG_INVALID', `A pod cannot run as MCP_BRIDGE_CONTAINER_USER=${setting}.`, {
      hint: 'Unset it, or set the numbers of an unprivileged user and its group, such as 65534:65534.',
    })
  }
  return { user: user === DEFAULT_USER ? randomInt(10_000, 60_000) : Number(user), group: Number(group) }
}
