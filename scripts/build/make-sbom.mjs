// Writes dist/sbom.cdx.json (CycloneDX): the packages that are bundled into dist/, and those that npm installs beside
// it. An audit of the installed package sees only the latter. Runs after the build, when the package is packed.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { name, version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))

/** @returns what npm lists of package-lock.json */
function list() {
  const shell = process.platform === 'win32'
  const words = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application']
  return JSON.parse(execFileSync('npm', words, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26, shell }))
}

const licences = readFileSync(`${root}dist/THIRD-PARTY-LICENSES.txt`, 'utf8')
const bundled = new Set(
  [...licences.matchAll(/(?:^|\n-{80}\n\n)(\S+) (\S+) \(/g)].map((match) => `${match[1]}@${match[2]}`),
)
// Asked to leave out what is for development, npm leaves out all but the packages of this repository.
const lock = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8'))
const installed = new Set(
  Object.entries(lock.packages)
    .filter(([folder, { dev, link }]) => folder.startsWith('node_modules/') && !dev && !link)
    .map(([folder, one]) => `${folder.replace(/^.*node_modules\//, '')}@${one.version}`),
)

const sbom = list()
// npm calls what is bundled optional, because it is a development dependency of this project.
sbom.components = sbom.components
  .filter(({ 'bom-ref': id }) => bundled.has(id) || installed.has(id))
  .map((component) => ({ ...component, scope: 'required' }))
const found = new Set(sbom.components.map((component) => component['bom-ref']))
const missing = [...bundled].filter((id) => !found.has(id))
if (missing.length > 0) throw new Error(`package-lock.json does not have what dist/ contains: ${missing.join(', ')}`)
const own = `${name}@${version}`
Object.assign(sbom.metadata.component, { 'bom-ref': own, name, version })
sbom.dependencies = [
  { ref: own, dependsOn: [...found] },
  ...sbom.dependencies
    .filter(({ ref }) => found.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((id) => found.has(id)) })),
]
writeFileSync(`${root}dist/sbom.cdx.json`, `${JSON.stringify(sbom, null, 1)}\n`)
