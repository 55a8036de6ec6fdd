// Loads the certificate and key of `--tls-cert` and `--tls-key`. When a renewed certificate replaces the files, the
// bridge loads it. It keeps serving with the old pair while the new one is invalid.
import { X509Certificate } from 'node:crypto'
import { unwatchFile, watchFile } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { BridgeError, messageOf } from '@sandbridge/core/errors.ts'
import type { Log } from '@sandbridge/core/util'

export interface TlsFiles {
  cert: string
  key: string
}

/** How often the files are checked. */
const LOOK_MS = 2_000
/** The two files are replaced one shortly after the other. */
const SETTLE_MS = 500

/** @throws BridgeError CONFIG_INVALID when the files cannot be read or do not match */
export async function readTls({ cert, key }: TlsFiles): Promise<SecureContextOptions> {
  const pair = { cert: await read('--tls-cert', cert), key: await read('--tls-key', key) }
  const options = { ...pair, minVersion: 'TLSv1.2' } as const
  try {
    createSecureContext(options)
  } catch (cause) {
    const problem = `The certificate ${cert} and the key ${key} cannot be used: ${messageOf(cause)}`
    throw new BridgeError('CONFIG_INVALID', problem, { cause, hint: 'Both must be PEM files that belong together.' })
  }
  return options
}

interface WatchOptions {
  use: (options: SecureContextOptions) => void
  log: Log
}

/** Calls `use` whenever the files have changed to a valid pair. @returns a function that stops watching */
export function watchTls(files: TlsFiles, { use, log }: WatchOptions): () => void {
  let timer: NodeJS.Timeout | undefined
  const reload = async (): Promise<void> => {
    try {
      const options = await readTls(files)
      use(options)
      const { validTo } = new X509Certificate(options.cert as Buffer)
      log.info('The certificate was replaced', { validTo })
    } catch (error) {
      log.error('The new certificate is not used, and the old one stays', { error })
    }
  }
  const onChange = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => void reload(), SETTLE_MS).unref()
  }
  const paths = [files.cert, files.key]
  for (const path of paths) watchFile(path, { interval: LOOK_MS, persistent: false }, onChange)
  return () => {
    clearTimeout(timer)
    for (const path of paths) unwatchFile(path, onChange)
  }
}

async function read(option: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (cause) {
    throw new BridgeError('CONFIG_INVALID', `${option}: ${messageOf(cause)}`, { cause })
  }
}
