import type { TakeOver } from '@sandbridge/core/serve/cli/package.ts'
import { runInResident } from './client/command-client.ts'
import { residentRole } from './wants-resident.ts'

/** A relay, or a command that the resident runs. */
export const resident: TakeOver = () => {
  const role = residentRole()
  if (role === 'relay') return async (command) => (await import('./client/run-relay.ts')).relay(command)
  return role && runInResident
}
