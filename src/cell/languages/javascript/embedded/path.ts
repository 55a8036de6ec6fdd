// `node:path` for the sandbox's paths.

const sep = '/'

function normalize(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop()
    else if (part !== '' && part !== '.' && !(part === '..' && path.startsWith('/'))) parts.push(part)
  }
  return (path.startsWith('/') ? '/' : '') + parts.join('/') || '.'
}

const join = (...parts: string[]): string => normalize(parts.filter(Boolean).join('/'))
const isAbsolute = (path: string): boolean => path.startsWith('/')
const current = () => (globalThis as unknown as { process: { cwd: () => string } }).process.cwd()

function resolve(...parts: string[]): string {
  const from = parts.findLastIndex(isAbsolute)
  return normalize(from < 0 ? [current(), ...parts].join('/') : parts.slice(from).join('/'))
}

function basename(path: string, suffix = ''): string {
  const name = path.replace(/\/+$/, '').split('/').at(-1) ?? ''
  return suffix && name !== suffix && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name
}

function dirname(path: string): string {
  const plain = path.replace(/\/+$/, '')
  const at = plain.lastIndexOf('/')
  return at < 0 ? '.' : plain.slice(0, at) || '/'
}

function extname(path: string): string {
  return /^.+(\.[^.]*)$/.exec(basename(path))?.[1] ?? ''
}

function relative(from: string, to: string): string {
  const [a, b] = [resolve(from), resolve(to)].map((path) => path.split('/').filter(Boolean)) as [string[], string[]]
  let same = 0
  while (same < a.length && a[same] === b[same]) same += 1
  return [...a.slice(same).map(() => '..'), ...b.slice(same)].join('/')
}

function parse(path: string) {
  const ext = extname(path)
  return { root: isAbsolute(path) ? '/' : '', dir: dirname(path), base: basename(path), ext, name: basename(path, ext) }
}

export const path = {
  sep,
  delimiter: ':',
  normalize,
  join,
  isAbsolute,
  resolve,
  basename,
  dirname,
  extname,
  relative,
  parse,
}
