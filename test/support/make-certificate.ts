// Makes a self-signed certificate for this machine with openssl.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

export interface Pair {
  cert: string
  key: string
}

/** @param name its common name, to distinguish certificates */
export async function makeCertificate(name = 'localhost'): Promise<Pair> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sb-cert-'))
  try {
    const [cert, key] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')]
    const made = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2'.split(' ')
    const names = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
    await promisify(execFile)('openssl', [...made, '-keyout', key, '-out', cert, ...names])
    return { cert: await readFile(cert, 'utf8'), key: await readFile(key, 'utf8') }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
