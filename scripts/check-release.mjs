// `npm run check:release [-- v1.2.3]`: checks that package.json, server.json, the bundle's manifest and the tag have the same version.
import { readFileSync } from 'node:fs'

const read = (name) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'))
const chart = readFileSync(new URL('../deploy/helm/sandbridge/Chart.yaml', import.meta.url), 'utf8')
const server = read('server.json')
const { version, mcpName } = read('package.json')
const claims = {
  'server.json': server.version,
  'server.json, its package': server.packages[0].version,
  'packaging/mcpb.json': read('packaging/mcpb.json').version,
  'the Helm chart': /^version: (.*)$/m.exec(chart)?.[1],
  'the Helm chart, its appVersion': /^appVersion: (.*)$/m.exec(chart)?.[1],
  ...(process.argv[2] && { 'the tag': process.argv[2].replace(/^v/, '') }),
}
const wrong = Object.entries(claims).filter(([, claimed]) => claimed !== version)
for (const [place, claimed] of wrong) process.stderr.write(`package.json has version ${version}, ${place} ${claimed}\n`)
if (mcpName !== server.name) process.stderr.write(`package.json has mcpName ${mcpName}, server.json ${server.name}\n`)
process.exitCode = wrong.length > 0 || mcpName !== server.name ? 1 : 0
