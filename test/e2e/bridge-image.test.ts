// @module-tag whole: it builds an image
// This file verifies the bridge's image, built offline on the tests' Node image and run as in a cluster: without root,
// on a read-only system.
import { expect, it, onTestFinished } from 'vitest'
import { buildBridgeImage, docker } from '@sandbridge/core/test/support/sandboxes/bridge-image.ts'
import { NODE_IMAGE, providerOrSkip } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'

const IMAGE = `localhost/sandbridge-bridge:test-${process.pid}`

it('the image of the bridge serves without root, on a read-only system', { timeout: 180_000 }, async () => {
  await providerOrSkip('docker', NODE_IMAGE)
  buildBridgeImage(IMAGE)
  onTestFinished(() => void docker('rmi', '--force', IMAGE))
  const writable = ['--tmpfs', '/tmp:mode=1777', '--tmpfs', '/state:mode=1777']
  const token = ['--env', 'MCP_BRIDGE_HTTP_TOKEN=a-token-of-some-length']
  const id = docker('run', '--detach', '--read-only', '--network=none', '--cap-drop=ALL', ...writable, ...token, IMAGE)
  onTestFinished(() => void docker('rm', '--force', id))

  const ask = (where: string) => {
    const code = `fetch('http://127.0.0.1:8080${where}').then((r) => console.log(r.status), () => console.log(0))`
    return docker('exec', id, 'node', '-e', code)
  }
  await until(() => ask('/healthz') === '200')
  // Without a cluster, it is up but not ready.
  expect([ask('/readyz'), ask('/mcp')]).toEqual(['503', '401'])
  expect(docker('exec', id, 'id', '-u')).toBe('65534')
  expect(() => docker('exec', id, 'touch', '/opt/sandbridge/x')).toThrow('Read-only file system')
})
