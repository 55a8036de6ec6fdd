import { expect, it } from 'vitest'
import { windows } from '@sandbridge/core/test/support/sandboxes/host-paths.ts'
import { planInit } from './plan-init.ts'

const NAME = 'claude_desktop_config.json'
const PACKAGED = 'C:\\Users\\ann\\AppData\\Local\\Packages\\Claude_pzs8sxrjxfjjc\\LocalCache\\Roaming\\Claude'
const ROAMING = 'C:\\Users\\ann\\AppData\\Roaming\\Claude'

it.each<[string, string[], string | undefined]>([
  ['of the package, which it reads in place of an old one', [`${ROAMING}\\${NAME}`, `${PACKAGED}\\${NAME}`], PACKAGED],
  ['of the package, in whose folder it has none yet', [PACKAGED], PACKAGED],
  ['of an older installation', [`${ROAMING}\\${NAME}`], ROAMING],
  ['of an older installation without one yet', [ROAMING], ROAMING],
  ['in neither place, where it is not installed', [], undefined],
])('init registers the bridge of Claude Desktop on Windows in the file %s', async (_which, there, folder) => {
  const absent = Object.assign(new Error('none'), { code: 'ENOENT' })
  const plan = await planInit({
    place: windows,
    command: { command: 'npx', args: ['-y', 'sandbridge'] },
    move: false,
    clients: ['claude-desktop'],
    fileSystem: {
      readFile: async (file) => (there.includes(file) ? Buffer.from('{}') : Promise.reject(absent)),
      readdir: async (one) => (there.includes(one) ? [] : Promise.reject(absent)),
    },
  })
  expect(plan.changes.map(({ file }) => file)).toEqual(folder === undefined ? [] : [`${folder}\\${NAME}`])
  expect(plan.absent.map(({ client }) => client)).toEqual(folder === undefined ? ['claude-desktop'] : [])
})
