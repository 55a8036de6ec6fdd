// A container registry on loopback that serves one image of the local docker, once: the parts of the registry's HTTP
// API that `docker pull` needs. (Distribution specification, Pulling manifests and blobs.) Docker accepts plain HTTP
// from loopback addresses.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { newFolder } from '../machine/new-folder.ts'

const MANIFEST_TYPE = 'application/vnd.docker.distribution.manifest.v2+json'

/** @returns the name to pull the image by; the image and the registry end with the test */
export async function serveImage(image: string): Promise<string> {
  const folder = newFolder()
  const { status, stderr } = spawnSync('sh', ['-c', `docker save ${image} | tar -x -C ${folder}`])
  if (status !== 0) throw new Error(String(stderr))
  const [saved] = JSON.parse(readFileSync(path.join(folder, 'manifest.json'), 'utf8')) as [
    { Config: string; Layers: string[] },
  ]
  const blobs = new Map<string, string>()
  const describe = (mediaType: string, name: string) => {
    const file = path.join(folder, name)
    const digest = `sha256:${createHash('sha256').update(readFileSync(file)).digest('hex')}`
    blobs.set(digest, file)
    return { mediaType, size: statSync(file).size, digest }
  }
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: MANIFEST_TYPE,
    config: describe('application/vnd.docker.container.image.v1+json', saved.Config),
    layers: saved.Layers.map((layer) => describe('application/vnd.docker.image.rootfs.diff.tar', layer)),
  })
  const server = createServer(({ url = '' }, response) => {
    const blob = blobs.get(url.split('/').at(-1) ?? '')
    if (url === '/v2/') response.end()
    else if (url.includes('/manifests/')) response.setHeader('Content-Type', MANIFEST_TYPE).end(manifest)
    else if (blob) createReadStream(blob).pipe(response)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const name = `127.0.0.1:${(server.address() as AddressInfo).port}/sandbridge-test/pulled:1`
  onTestFinished(() => void spawnSync('docker', ['rmi', '--force', name]))
  return name
}
