// Starts the servers that a cell is likely to call, while the cell waits for its sandbox.
import type { ConnectedServers } from './connect-servers.ts'

/**
 * Starts those that do not run. A failure shows when the cell calls the server.
 * @param enter requests that a server sends as soon as it runs go to the client of the cell, until it is left again
 * @returns a controller that ends the wait for them; undefined when no server is started
 */
export function startServers(
  named: readonly { name: string }[],
  { catalog, upstreams }: Pick<ConnectedServers, 'catalog' | 'upstreams'>,
  enter: (server: string, signal: AbortSignal) => () => void,
): AbortController | undefined {
  const broken = new Set(catalog.servers().flatMap(({ name, problem }) => (problem === undefined ? [] : [name])))
  const starting = named.filter(({ name }) => !broken.has(name) && upstreams.state(name) === 'not-started')
  if (starting.length === 0) return undefined
  const over = new AbortController()
  const { signal } = over
  for (const { name } of starting) {
    const start = async () => {
      // Through the catalog if it knows nothing yet, so that it also reads resources and prompts.
      await catalog.tools(name, signal)
      await (catalog.of(name).isRecent ? upstreams.start(name, signal) : upstreams.listTools(name, signal))
    }
    const leave = enter(name, signal)
    start()
      .catch(() => {})
      .finally(leave)
  }
  return over
}
