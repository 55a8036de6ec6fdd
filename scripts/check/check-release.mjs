// `npm run check:release [-- v1.2.3]`: checks that everything that names this version, and the tag, names the same,
// that CHANGELOG.md describes each version that SECURITY.md names, and that the package says where its source is. With
// a tag, it also checks that README.md no longer says that the package is not on the registry.
import { readFileSync } from 'node:fs'

const text = (name) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
const read = (name) => JSON.parse(text(name))
const chart = text('packages/kubernetes/deploy/helm/sandbridge/Chart.yaml')
const server = read('server.json')
const { version, mcpName, repository } = read('package.json')
const described = [...text('CHANGELOG.md').matchAll(/^## (\d+\.\d+\.\d+)$/gm)].map((match) => match[1])
const claims = {
  'package-lock.json': read('package-lock.json').version,
  'server.json': server.version,
  'server.json, its package': server.packages[0].version,
  'packaging/mcpb.json': read('packaging/mcpb.json').version,
  'the Helm chart': /^version: (.*)$/m.exec(chart)?.[1],
  'the Helm chart, its appVersion': /^appVersion: (.*)$/m.exec(chart)?.[1],
  'the newest heading of CHANGELOG.md': described[0],
  ...(process.argv[2] && { 'the tag': process.argv[2].replace(/^v/, '') }),
}
const problems = [
  ...Object.entries(claims)
    .filter(([, claimed]) => claimed !== version)
    .map(([place, claimed]) => `package.json has version ${version}, ${place} ${claimed}`),
  ...[...text('SECURITY.md').matchAll(/\bin (\d+\.\d[\d.]*\d)/g)]
    .filter(([, fixedIn]) => !described.includes(fixedIn))
    .map(([, fixedIn]) => `SECURITY.md names version ${fixedIn}, and CHANGELOG.md has no heading for it`),
]
if (mcpName !== server.name) problems.push(`package.json has mcpName ${mcpName}, server.json ${server.name}`)
// npm refuses to publish with provenance when this is not the repository that publishes.
if (repository?.url !== `git+${server.repository?.url}.git`)
  problems.push(`package.json has repository ${repository?.url}, server.json ${server.repository?.url}`)
// A release publishes the README beside a package that can then be installed from the registry.
if (process.argv[2] && text('README.md').includes('<!-- until the first release'))
  problems.push(
    'README.md says how to install before the first release. Delete that block, from its comment to its end',
  )

for (const problem of problems) process.stderr.write(`${problem}\n`)
process.exitCode = problems.length > 0 ? 1 : 0
