// `sandbridge artifacts`: what cells have stored, for the owner of this machine. Starts no sandbox.
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { loadSettings } from '@sandbridge/core/config/settings'
import { ArtifactStore } from '@sandbridge/memories/saved/artifact-store.ts'
import { type ProjectEntry, type Projects, projects as part } from '@sandbridge/core/parts'
import { count } from '@sandbridge/core/util/text'
import { print, printEmpty, printJson, printSummary, printTable } from '@sandbridge/core/serve/cli/terminal'
import { ownStore } from '@sandbridge/shared/own-store.ts'

const NO_ARTIFACTS =
  'No artifacts yet. A cell saves a file with runtime.save_artifact(name, data):\n' +
  `  sandbridge exec -c 'runtime.save_artifact("note.txt", "hello")'`

/** Prefix of names of files in `/projects`; no artifact's name contains a `/`. */
const PROJECTS = '/projects/'

interface ArtifactsOptions {
  json?: boolean
  output?: string
  remove?: string
}

export async function artifacts(
  name: string | undefined,
  version: string | undefined,
  options: ArtifactsOptions,
): Promise<void> {
  if (options.remove !== undefined) await removeArtifact(options.remove, options)
  else if (name === undefined || options.json) await listArtifacts(options, name)
  else await writeArtifact(name, version, options)
}

/** @param only the artifact of this name, as JSON */
async function listArtifacts({ json }: ArtifactsOptions, only: string | undefined): Promise<void> {
  const all = await (await openStore()).versions()
  const projects = part.isHere ? await openProjects() : undefined
  const files = (projects?.list() ?? []).filter((entry) => !entry.isFolder)
  if (json) {
    const described = [...all, ...files.map((file) => describeProjectFile(projects!, file))]
    return printJson(only === undefined ? described : described.filter(({ name }) => name === only))
  }
  if (all.length + files.length === 0) return printEmpty(NO_ARTIFACTS)
  const newest = [...new Map(all.map((artifact) => [artifact.name, artifact])).values()]
  if (newest.length > 0) {
    const rows = newest.map(({ name, version, sizeBytes, contentType, createdAt }) => {
      return [name, `version ${version}`, sizeOf(sizeBytes), contentType, shortTime(createdAt)]
    })
    printTable(rows, { head: ['NAME', 'VERSION', 'SIZE', 'TYPE', 'SAVED'] })
    const bytes = all.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    const what = `${count(newest.length, 'artifact')} in ${count(all.length, 'version')}, ${count(bytes, 'byte')}`
    printSummary(`${what}. Get one: sandbridge artifacts ${newest[0]!.name} -o FILE`)
  }
  if (!projects || files.length === 0) return
  print(`/projects, kept in ${projects.folder}:`)
  printTable(
    files.map((file) => [PROJECTS + file.path, sizeOf(file.sizeBytes), shortTime(file.modifiedAt.toISOString())]),
  )
}

const sizeOf = (bytes: number): string => `${bytes.toLocaleString('en')} bytes`

function describeProjectFile({ folder }: Projects, { path: name, sizeBytes, modifiedAt }: ProjectEntry) {
  return { name: `${PROJECTS}${name}`, sizeBytes, modifiedAt: modifiedAt.toISOString(), file: path.join(folder, name) }
}

function shortTime(time: string): string {
  return time.slice(0, 16).replace('T', ' ')
}

/** To stdout, or a file: PowerShell changes bytes that it redirects. */
async function writeArtifact(name: string, version: string | undefined, { output }: ArtifactsOptions): Promise<void> {
  const { data } = name.startsWith(PROJECTS)
    ? await (await openProjects()).read(name.slice(PROJECTS.length), { offset: 0, length: Infinity })
    : await (await openStore()).read(name, version === undefined ? undefined : parseVersion(version))
  if (output !== undefined) await writeFile(output, data)
  else await new Promise((resolve) => process.stdout.write(data, resolve))
}

async function removeArtifact(name: string, { json }: ArtifactsOptions): Promise<void> {
  const isFile = name.startsWith(PROJECTS)
  await (isFile ? (await openProjects()).remove(name.slice(PROJECTS.length)) : (await openStore()).remove(name))
  if (json) printJson({ removed: name })
  else print(`Deleted '${name}'${isFile ? '' : ' with all its versions'}.`)
}

async function openStore(): Promise<ArtifactStore> {
  return new ArtifactStore(await ownStore())
}

async function openProjects(): Promise<Projects> {
  return (await part.for(`A file of ${PROJECTS}`)).openProjects((await loadSettings()).stateDir)
}

/** @throws BridgeError TOOL_ARGUMENTS_INVALID */
export function parseVersion(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new BridgeError('TOOL_ARGUMENTS_INVALID', `'${text}' is not a version`, {
    hint: 'Versions are 1, 2, 3 and so on.',
  })
}
