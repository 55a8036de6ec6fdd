// `sandbridge artifacts`: what cells have kept, for the person whose machine it is kept on. Starts no sandbox.
import { BridgeError } from '../errors.ts'
import { readSettings } from '../config/settings.ts'
import { ArtifactStore } from '../state/artifact-store.ts'
import { count } from '../text/count.ts'
import { print, printEmpty, printJson, printSummary, printTable } from './print.ts'

const NO_ARTIFACTS =
  'No artifacts yet. A cell keeps a file with runtime.save_artifact(name, data):\n' +
  `  sandbridge exec -c 'runtime.save_artifact("note.txt", "hello")'`

export async function listArtifacts({ json }: { json?: boolean }): Promise<void> {
  const all = await openStore().versions()
  if (json) return printJson(all)
  if (all.length === 0) return printEmpty(NO_ARTIFACTS)
  const newest = [...new Map(all.map((artifact) => [artifact.name, artifact])).values()]
  printTable(
    newest.map(({ name, version, sizeBytes, contentType, createdAt }) => [
      name,
      `version ${version}`,
      `${sizeBytes.toLocaleString('en')} bytes`,
      contentType,
      createdAt.slice(0, 16).replace('T', ' '),
    ]),
    { head: ['NAME', 'VERSION', 'SIZE', 'TYPE', 'SAVED'] },
  )
  const bytes = all.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const what = `${count(newest.length, 'artifact')} in ${count(all.length, 'version')}, ${count(bytes, 'byte')}`
  printSummary(`${what}. Get one: sandbridge artifacts show ${newest[0]!.name} > FILE`)
}

/** Writes the bytes to stdout, so that they can be piped into a file. */
export async function showArtifact(name: string, version: string | undefined): Promise<void> {
  const { data } = await openStore().read(name, version === undefined ? undefined : parseVersion(version))
  await new Promise((resolve) => process.stdout.write(data, resolve))
}

export async function removeArtifact(name: string): Promise<void> {
  await openStore().remove(name)
  print(`Deleted '${name}' with all its versions.`)
}

function openStore(): ArtifactStore {
  return new ArtifactStore(readSettings(process.env).stateDir)
}

/** @throws BridgeError TOOL_ARGUMENTS_INVALID */
export function parseVersion(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new BridgeError('TOOL_ARGUMENTS_INVALID', `'${text}' is no version`, {
    hint: 'Versions are 1, 2, 3 and so on.',
  })
}
