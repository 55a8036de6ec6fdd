import path from 'node:path'
import { expect, it } from 'vitest'
import { bridgeCommand } from './targets.ts'

it('the command that init writes is npx for a bridge that npx has installed', () => {
  expect(bridgeCommand('/home/ann/.npm/_npx/0123/node_modules/sandbridge', '/usr/bin/node')).toEqual({
    command: 'npx',
    args: ['-y', 'sandbridge'],
  })
})

it.each(['/usr/lib/node_modules/sandbridge', '/home/ann/src/bridge'])(
  'the command that init writes is the built program itself in %s',
  (root) => {
    const args = [path.join(root, 'dist/cli.js')]
    expect(bridgeCommand(root, '/usr/bin/node')).toEqual({ command: '/usr/bin/node', args })
  },
)
