// The command in a Node that can run it. Loads everything else, and reuses compiled code of earlier starts.
// Before all others, which may ask for the home as they are loaded.
// oxlint-disable-next-line import/no-unassigned-import
import '@sandbridge/core/util/files/own-home.ts'
import { TAKE_OVERS } from './first.ts'
import { refuseBroken } from './refuse.ts'
import { endWithoutReader } from '@sandbridge/core/util/process/lost-reader.ts'

const load = async (): Promise<() => Promise<void>> => {
  const { keepCompiledCode } = await import('./compile-cache.ts')
  keepCompiledCode()
  const [{ main }, { PACKAGES }] = await Promise.all([
    import('@sandbridge/core/serve/cli/program.ts'),
    import('./packages.ts'),
  ])
  return () => main(PACKAGES)
}
const command = (): Promise<void> => load().then((run) => run(), refuseBroken)
// Finding compiled code would take longer than compiling the little that these load.
const takeOver = TAKE_OVERS.map((ask) => ask()).find((found) => found !== undefined)
if (takeOver) takeOver(command).catch(refuseBroken)
else {
  endWithoutReader()
  void command()
}
