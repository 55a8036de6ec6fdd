// Stores the code that V8 has compiled, for the next start: a list of tools takes a third less. Node's own cache gains
// less. The code is executed, so its folder is writable by no other user, and each file has a checksum: V8 checks
// little, and crashes on a damaged file.
import { readFileSync } from 'node:fs'
import Module, { createRequire } from 'node:module'
import { homedir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import vm from 'node:vm'
import { crc32 } from 'node:zlib'
import { cacheFolder } from '@sandbridge/core/config/settings/state-folder.ts'
import {
  isOwnFolderSync,
  makePrivateFolder,
  readOrdinarySync,
  removeUnused,
  replaceFileSync,
} from '@sandbridge/core/util/files'

/** Wait after the last file was loaded: by then a start has run what it needs. */
const SAVE_AFTER_MS = 3_000
/** By then a first cell has mostly run, too, and V8 has not dropped the code of the start. */
const SAVE_AGAIN_AFTER_MS = 60_000
/** For files of other versions. */
const KEPT_UNUSED_MS = 60 * 86_400_000
const CHECKSUM_BYTES = 4

interface Compiled {
  file: string
  source: Buffer
  script: vm.Script
}

/** Applies to bundle files that are loaded from now on. Never throws: a failure only slows down the start. */
export function keepCompiledCode(): void {
  const bundle = path.dirname(fileURLToPath(import.meta.url))
  if (path.basename(bundle) !== 'dist') return
  const folder = path.join(cacheFolder({ env: process.env, home: homedir() }), 'code')
  const isUsable = isOwnFolderSync(folder)
  const unsaved: Compiled[] = []
  const save = (): void => saveCompiled(folder, unsaved)
  const saveLast = (): void => saveCompiled(folder, unsaved.splice(0))
  const timers = [setTimeout(save, SAVE_AFTER_MS).unref(), setTimeout(saveLast, SAVE_AGAIN_AFTER_MS).unref()]
  process.once('exit', save)

  const load = (module: NodeModule, file: string): void => {
    const source = readFileSync(file)
    const cachedData = isUsable ? readCompiled(folder, file, source) : undefined
    const script = new vm.Script(Module.wrap(source.toString('latin1')), {
      filename: file,
      ...(cachedData && { cachedData }),
    })
    if (cachedData === undefined || script.cachedDataRejected) {
      unsaved.push({ file, source, script })
      for (const timer of timers) timer.refresh()
    }
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

function readCompiled(folder: string, file: string, source: Buffer): Buffer | undefined {
  try {
    const kept = readOrdinarySync(keptFile(folder, file))
    const code = kept.subarray(CHECKSUM_BYTES)
    return checksumOf(source, code).equals(kept.subarray(0, CHECKSUM_BYTES)) ? code : undefined
  } catch {
    return undefined
  }
}

function saveCompiled(folder: string, compiled: readonly Compiled[]): void {
  if (compiled.length === 0) return
  try {
    makePrivateFolder(folder)
    if (!isOwnFolderSync(folder)) return
    for (const { file, source, script } of compiled) {
      const code = script.createCachedData()
      replaceFileSync(keptFile(folder, file), Buffer.concat([checksumOf(source, code), code]))
    }
    removeUnused(folder, () => KEPT_UNUSED_MS)
  } catch {
    // The disk is full or not writable.
  }
}

/** The name includes V8's version: another version cannot use the code. */
function keptFile(folder: string, file: string): string {
  return path.join(folder, `${path.basename(file)}@${process.versions.v8}`)
}

/** V8 itself compares only the length of the source. */
function checksumOf(source: Buffer, code: Buffer): Buffer {
  const checksum = Buffer.alloc(CHECKSUM_BYTES)
  checksum.writeUInt32LE(crc32(code, crc32(source)))
  return checksum
}
