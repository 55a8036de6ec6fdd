// Which programs can run the bridge: those that `engines` in package.json allows.

/** As in `engines`. */
const OLDEST = '20.19'

type Runtime = Pick<NodeJS.Process, 'versions' | 'execPath'>

/** @returns why this program cannot run the bridge, and what to do, in two sentences */
export function whyUnsupported({ versions, execPath }: Runtime): string | undefined {
  const [other] = ['bun', 'deno'].filter((name) => versions[name] !== undefined)
  if (other === undefined && isAtLeast(versions.node, OLDEST)) return undefined
  const found = other === undefined ? `Node ${versions.node}` : `${other} ${versions[other]!}`
  return (
    `Sandbridge needs Node ${OLDEST} or newer, and was started with ${found} (${execPath}). ` +
    'Install Node from https://nodejs.org, and name its path as the command where Sandbridge is started, such as in ' +
    'the configuration of your MCP client.'
  )
}

function isAtLeast(version: string, oldest: string): boolean {
  const [[major, minor], [needsMajor, needsMinor]] = [version, oldest].map((text) => text.split('.').map(Number)) as [
    [number, number],
    [number, number],
  ]
  return major > needsMajor || (major === needsMajor && minor >= needsMinor)
}
