// `sandbridge artifacts`: what cells have stored, for the owner of this machine. Starts no sandbox.
import path from 'node:path'
import { BridgeError } from '../../errors.ts'
import { loadSettings } from '../../config/settings/file/load-settings.ts'
import { ArtifactStore } from '../../keep/saved/artifact-store.ts'
import { PROJECT_LIMITS, type ProjectEntry, ProjectStore } from '../../keep/saved/project-store.ts'
import { count } from '../../util/text/count.ts'
import { ownStore } from '../terminal/own-store.ts'
import { print, printEmpty, printJson, printSummary, printTable } from '../terminal/print.ts'

const NO_ARTIFACTS =
  'No artifacts yet. A cell saves a file with runtime.save_artifact(name, data):\n' +
  `  sandbridge exec -c 'runtime.save_artifact("note.txt", "hello")'`

/** Prefix of names of files in `/projects`; no artifact's name contains a `/`. */
const PROJECTS = '/projects/'

export async function listArtifacts({ json }: { json?: boolean }): Promise<void> {
  const all = await (await openStore()).versions()
  const projects = await openProjects()
  const files = projects.list().filter((entry) => !entry.isFolder)
  if (json) return printJson([...all, ...files.map((file) => describeProjectFile(projects, file))])
  if (all.length + files.length === 0) return printEmpty(NO_ARTIFACTS)
  const newest = [...new Map(all.map((artifact) => [artifact.name, artifact])).values()]
  printTable(
    newest.map(({ name, version, sizeBytes, contentType, createdAt }) => [
      name,
      `version ${version}`,
      `${sizeBytes.toLocaleString('en')} bytes`,
      contentType,
      shortTime(createdAt),
    ]),
  )
  if (files.length === 0) return
  print(`/projects, kept in ${projects.folder}:`)
  printTable(
    files.map(({ path: name, sizeBytes, modifiedAt }) => [
      `${PROJECTS}${name}`,
      `${sizeBytes.toLocaleString('en')} bytes`,
      shortTime(modifiedAt.toISOString()),
    ]),
    { head: ['NAME', 'VERSION', 'SIZE', 'TYPE', 'SAVED'] },
  )
  const bytes = all.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const what = `${count(newest.length, 'artifact')} in ${count(all.length, 'version')}, ${count(bytes, 'byte')}`
  printSummary(`${what}. Get one: sandbridge artifacts show ${newest[0]!.name} > FILE`)
}

function describeProjectFile({ folder }: ProjectStore, { path: name, sizeBytes, modifiedAt }: ProjectEntry) {
  return { name: `${PROJECTS}${name}`, sizeBytes, modifiedAt: modifiedAt.toISOString(), file: path.join(folder, name) }
}

function shortTime(time: string): string {
  return time.slice(0, 16).replace('T', ' ')
}

/** Writes the bytes to stdout, so that they can be piped into a file. */
export async function showArtifact(name: string, version: string | undefined): Promise<void> {
  if (name.startsWith(PROJECTS)) return showProjectFile(name.slice(PROJECTS.length))
  const { data } = await (await openStore()).read(name, version === undefined ? undefined : parseVersion(version))
  await new Promise((resolve) => process.stdout.write(data, resolve))
}

async function showProjectFile(name: string): Promise<void> {
  const { data } = await (await openProjects()).read(name, { offset: 0, length: PROJECT_LIMITS.fileBytes })
  await new Promise((resolve) => process.stdout.write(data, resolve))
}

export async function removeArtifact(name: string): Promise<void> {
  if (name.startsWith(PROJECTS)) {
    await (await openProjects()).remove(name.slice(PROJECTS.length))
    return print(`Deleted '${name}'.`)
  }
  await (await openStore()).remove(name)
  print(`Deleted '${name}' with all its versions.`)
}

async function openStore(): Promise<ArtifactStore> {
  return new ArtifactStore(await ownStore())
}

async function openProjects(): Promise<ProjectStore> {
  return new ProjectStore((await loadSettings()).stateDir)
}

/** @throws BridgeError TOOL_ARGUMENTS_INVALID */
export function parseVersion(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new BridgeError('TOOL_ARGUMENTS_INVALID', `'${text}' is not a version`, {
    hint: 'Versions are 1, 2, 3 and so on.',
  })
}
