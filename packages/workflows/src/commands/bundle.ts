// `sandbridge export`, `import`: what is saved, in one file. Importing shows what it would do, asks, runs nothing.
import { rm } from 'node:fs/promises'
import type { OpenTenant } from '@sandbridge/core/bridge'
import { BridgeError, messageOf } from '@sandbridge/core/errors.ts'
import { readFailure } from '@sandbridge/core/util/files'
import { count } from '@sandbridge/core/util/text'
import { Bundle, chooseContents, writeBundle } from '../share/bundle.ts'
import { print, visibleInline } from '@sandbridge/core/serve/cli/terminal'
import { confirm } from '@sandbridge/shared/terminal/confirm.ts'
import { withBridge } from '@sandbridge/shared/open-bridge.ts'
import { savedOf } from '@sandbridge/memories/saved/saved-things.ts'

export async function exportBundle(names: string[], { output }: { output?: string }): Promise<void> {
  await withBridge(async ({ own }) => {
    const { tools, artifacts } = savedOf(own)
    const file = output ?? 'bundle.sbx'
    const contents = await chooseContents(names, tools, artifacts)
    if (contents.tools.length + contents.artifacts.length === 0)
      throw usage('There is nothing to export: no function or artifact was saved yet')
    const { servers } = await written(file, () => writeBundle(file, contents, artifacts))
    print(
      `Wrote ${file}: ${count(contents.tools.length, 'function')}, ${count(contents.artifacts.length, 'artifact')}.`,
    )
    if (servers.length > 0) print(`It needs these servers, which are not in it: ${servers.join(', ')}`)
  })
}

export async function importBundle(file: string, options: { yes?: boolean; dryRun?: boolean }): Promise<void> {
  const bundle = await Bundle.open(file).catch((error: unknown) => {
    if (BridgeError.isInstance(error)) throw error
    throw usage(`The file '${file}' cannot be read: ${readFailure(error, () => messageOf(error))}`)
  })
  await withBridge(async (bridge) => {
    await showBundle(bundle, bridge)
    if (options.dryRun) return
    if (!options.yes && !(await confirm('Import it? [y/N] '))) return print('Nothing was imported.')
    const saved = savedOf(bridge.own)
    for (const tool of bundle.tools) {
      // The function is loaded in a sandbox when it is first listed: importing runs nothing.
      const { version } = await saved.tools.save(tool, () => Promise.resolve())
      print(`${tool.name}: version ${version}`)
    }
    for await (const { name, data } of bundle.readArtifacts()) {
      const { version } = await saved.artifacts.save(name, data)
      print(`${visibleInline(name)}: version ${version}`)
    }
  })
}

async function showBundle({ tools, artifacts, manifest }: Bundle, { own, catalog }: OpenTenant): Promise<void> {
  const saved = savedOf(own)
  print('The bundle holds:')
  for (const { name, workflow, source } of tools) {
    const before = await saved.tools.find(name).catch(() => undefined)
    const state = stateOf(before, before?.source === source, 'the same source as yours')
    print(`  ${workflow ? `workflow ${workflow.title}` : `function ${name}`}: ${state}`)
  }
  for (const { name, bytes, sha256 } of artifacts) {
    const before = await saved.artifacts.find(name).catch(() => undefined)
    const state = stateOf(before, before?.sha256 === sha256, 'the same as yours')
    print(`  artifact ${visibleInline(name)}: ${bytes.toLocaleString('en')} bytes, ${state}`)
  }
  const missing = manifest.servers.filter((name) => catalog.resolveServer(name) === undefined)
  if (missing.length > 0) print(`These servers are not configured here: ${missing.map(visibleInline).join(', ')}`)
}

function stateOf(yours: { version: number } | undefined, isSame: boolean, same: string): string {
  return !yours ? 'new' : isSame ? same : `differs from your version ${yours.version}`
}

/** Never overwrites an existing file, and removes an incomplete one. */
async function written<T>(file: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (cause) {
    const isThere = cause instanceof Error && 'code' in cause && cause.code === 'EEXIST'
    if (!isThere) await rm(file, { force: true }).catch(() => {})
    if (BridgeError.isInstance(cause)) throw cause
    const reason = isThere ? 'it exists already' : messageOf(cause)
    throw usage(`The file '${file}' cannot be written: ${reason}`)
  }
}

function usage(message: string): BridgeError {
  return new BridgeError('TOOL_ARGUMENTS_INVALID', message, { hint: '' })
}
