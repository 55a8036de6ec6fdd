// Keeps what V8 has compiled of our own code for the next start: a client has its list of tools in two thirds of the time. Node's own
// cache, which came with Node 22, gains less. What is kept is executed, so it lies in a folder that no other user can write to, and
// each file has a digest: V8 checks hardly anything, and crashes on a damaged one.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createRequire, wrap } from 'node:module'
import { homedir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import vm from 'node:vm'
import { cacheFolder } from '../config/cache-folder.ts'
import { isOwnFolderSync, makePrivateFolderSync } from '../storage/private-folder.ts'
import { replaceFileSync } from '../storage/replace-file.ts'

/** After the last file was loaded. By then a start has run what it needs; later, V8 drops what has not run for a while. */
const SAVE_AFTER_MS = 3_000
/** Of other versions. */
const KEPT_UNUSED_MS = 60 * 86_400_000
const DIGEST_BYTES = 32

/** Of code that was kept before it had run for long: the functions of a first cell may be missing. Else LATE. */
const EARLY = 0
const LATE = 1
/** How much longer code is when it is worth keeping again. */
const GROWTH = 1.05

interface Compiled {
  file: string
  source: Buffer
  script: vm.Script
  /** Bytes of its code that are kept, where that is early code. */
  keptBytes: number
}

/** For the files of the bundle that are loaded from here on; does nothing when run from the sources. Never throws: without it, a start takes longer. */
export function keepCompiledCode(): void {
  const bundle = path.dirname(fileURLToPath(import.meta.url))
  if (path.basename(bundle) !== 'dist') return
  const user = process.getuid?.()
  const place = cacheFolder({ env: process.env, home: homedir(), platform: process.platform, isRoot: user === 0 })
  const folder = path.join(place, 'code')
  const isUsable = isOwnFolderSync(folder)
  const compiled: Compiled[] = []
  const timer = setTimeout(() => saveCompiled(folder, compiled, EARLY), SAVE_AFTER_MS).unref()
  process.once('exit', () => saveCompiled(folder, compiled, LATE))

  const load = (module: NodeModule, file: string): void => {
    const source = readFileSync(file)
    const { code: cachedData, isLate } = (isUsable && readCompiled(folder, file, source)) || {}
    const script = new vm.Script(wrap(source.toString()), { filename: file, ...(cachedData && { cachedData }) })
    const isMissing = cachedData === undefined || script.cachedDataRejected
    if (isMissing) timer.refresh()
    if (isMissing || !isLate) compiled.push({ file, source, script, keptBytes: isMissing ? 0 : cachedData.length })
    const run = script.runInThisContext() as (...names: unknown[]) => void
    run.call(module.exports, module.exports, module.require.bind(module), module, file, bundle)
  }
  const { extensions } = createRequire(import.meta.url)
  const loadOther = extensions['.js']
  extensions['.js'] = (module, file) => {
    if (path.dirname(file) === bundle) load(module, file)
    else loadOther(module, file)
  }
}

function readCompiled(folder: string, file: string, source: Buffer): { code: Buffer; isLate: boolean } | undefined {
  try {
    const kept = readFileSync(keptFile(folder, file))
    const content = kept.subarray(DIGEST_BYTES)
    if (!digestOf(source, content).equals(kept.subarray(0, DIGEST_BYTES))) return undefined
    return { code: content.subarray(0, -1), isLate: content.at(-1) === LATE }
  } catch {
    return undefined
  }
}

/** Keep what is not kept yet; when the process ends, also what has become longer since. */
function saveCompiled(folder: string, compiled: readonly Compiled[], time: typeof EARLY | typeof LATE): void {
  const wanted = compiled.filter(({ keptBytes }) => keptBytes === 0 || time === LATE)
  if (wanted.length === 0) return
  try {
    makePrivateFolderSync(folder)
    if (!isOwnFolderSync(folder)) return
    for (const one of wanted) {
      const code = one.script.createCachedData()
      if (code.length < one.keptBytes * GROWTH) continue
      const content = Buffer.concat([code, Buffer.of(time)])
      replaceFileSync(keptFile(folder, one.file), Buffer.concat([digestOf(one.source, content), content]))
      one.keptBytes = code.length
    }
    for (const name of readdirSync(folder)) {
      const kept = path.join(folder, name)
      if (Date.now() - statSync(kept).mtimeMs > KEPT_UNUSED_MS) rmSync(kept)
    }
  } catch {
    // A disk that is full, or cannot be written to.
  }
}

/** Another V8 cannot use it. */
function keptFile(folder: string, file: string): string {
  return path.join(folder, `${path.basename(file)}@${process.versions.v8}`)
}

/** V8 itself compares no more of the source than its length. */
function digestOf(source: Buffer, code: Buffer): Buffer {
  return createHash('sha256').update(source).update(code).digest()
}
