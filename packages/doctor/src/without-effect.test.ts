import { expect, it } from 'vitest'
import { settingsWithoutEffect } from './without-effect.ts'

const setBy = Object.fromEntries(
  ['IMAGE', 'PIDS', 'MEMORY'].map((name) => [`MCP_BRIDGE_${name}`, `MCP_BRIDGE_${name}`]),
)

it('a setting of containers is reported as without effect in other sandboxes', () => {
  expect(settingsWithoutEffect(setBy, 'docker')).toEqual([])
  expect(settingsWithoutEffect({ ...setBy, MCP_BRIDGE_CPUS: 'settings.json:2:3: sandbox.cpus' }, 'bubblewrap')).toEqual(
    ['settings.json:2:3: sandbox.cpus has no effect with bubblewrap: only podman, docker and kubernetes support it.'],
  )
  expect(settingsWithoutEffect(setBy, 'pyodide')).toHaveLength(2)
})
