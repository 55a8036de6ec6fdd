// `sandbridge index`: ask every server for its tools now, so that no cell has to wait for it.
import { withBridge } from './open-bridge.ts'
import { printTable } from './print.ts'

/** Sets the exit code to 1 when a server could not be indexed. */
export async function indexServers(): Promise<void> {
  await withBridge(async ({ catalog }) => {
    await catalog.indexAll()
    const entries = catalog.servers()
    printTable(
      entries.map(({ name, toolCount = 0, problem }) => [
        name,
        problem === undefined ? `${toolCount} tools` : `failed: ${problem}`,
      ]),
    )
    if (entries.some((entry) => entry.problem !== undefined)) process.exitCode = 1
  })
}
