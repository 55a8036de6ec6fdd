import { expect, it } from 'vitest'
import { settingsWithoutEffect } from './without-effect.ts'

const env = { MCP_BRIDGE_IMAGE: 'python:3.12', MCP_BRIDGE_PIDS: '64', MCP_BRIDGE_CPUS: ' ', MCP_BRIDGE_MEMORY: '1g' }

it('a setting of containers is reported as without effect in other sandboxes', () => {
  expect(settingsWithoutEffect(env, 'docker')).toEqual([])
  expect(settingsWithoutEffect({ ...env, MCP_BRIDGE_CPUS: '2' }, 'bubblewrap')).toEqual([
    'MCP_BRIDGE_CPUS has no effect with bubblewrap: only podman, docker and kubernetes support it.',
  ])
  expect(settingsWithoutEffect(env, 'pyodide')).toHaveLength(2)
})
