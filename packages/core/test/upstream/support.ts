// Shared by tests of upstreams: upstreams that end with their test, and waiting.
import { onTestFinished } from 'vitest'
import type { ServerDefinition } from '../../src/config/entries/server-definition.ts'
import { type ClientContext, processContext } from '../../src/config/settings/client-context.ts'
import { createLog } from '../../src/util/log.ts'
import { UpstreamSet, type Upstreams, type UpstreamsOptions } from '../../src/upstream/upstream-set.ts'

export { program, published, raw, textOf } from './definitions.ts'

export interface TestUpstreams extends Upstreams {
  /** Everything logged so far. */
  logged: string[]
}

/** Upstreams that end with their test. */
export function open(...[definitions, options]: Parameters<typeof openUnclosed>): TestUpstreams {
  const upstreams = openUnclosed(definitions, options)
  onTestFinished(() => upstreams.close())
  return upstreams
}

/** Upstreams that several tests share: the caller ends them. */
export function openUnclosed(
  definitions: ServerDefinition[],
  { cwd, env, ...options }: Partial<Omit<UpstreamsOptions, 'definitions'> & ClientContext> = {},
): TestUpstreams {
  const logged: string[] = []
  const upstreams = new UpstreamSet({
    context: { ...processContext(), ...(cwd !== undefined && { cwd }), ...(env && { env }) },
    definitions,
    log: createLog('debug', (line) => void logged.push(line)),
    clientInfo: { name: 'test', version: '1' },
    ...options,
  })
  return Object.assign(upstreams, { logged })
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Waits for something that will certainly happen; the test's own timeout is the limit. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20))
}
