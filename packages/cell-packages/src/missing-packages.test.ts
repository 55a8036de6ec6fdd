import { expect, it } from 'vitest'
import { blame, forgetMissing, installAvailable, InstallError } from './missing-packages.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const NONE = { memory: undefined, kind: 'test' }
const unknown = (name: string) =>
  new InstallError(
    `No matching distribution found for ${name}`,
    `WARNING: pandas is mentioned here\nERROR: No matching distribution found for ${name}`,
  )

/** An installer that lacks some packages. */
function installer(lacking: string[]) {
  const attempts: string[][] = []
  const attempt = async (words: readonly string[]) => {
    attempts.push([...words])
    const bad = words.find((word) => lacking.includes(word))
    if (bad !== undefined) throw unknown(bad)
    return words.join(' ')
  }
  return { attempts, attempt }
}

it('a package that cannot be had leaves the others installed', async () => {
  const { attempt, attempts } = installer(['no-such', 'nor_this'])
  const words = ['pandas', 'no-such', 'numpy>=2', 'nor_this']
  expect(await installAvailable(words, NONE, attempt)).toEqual({
    result: 'pandas numpy>=2',
    missing: [
      { word: 'no-such', name: 'no-such', reason: 'No matching distribution found for no-such' },
      { word: 'nor_this', name: 'nor_this', reason: 'No matching distribution found for nor_this' },
    ],
  })
  expect(attempts).toHaveLength(3)
})

it('packages that an installer names together are left out together, each with its reason', async () => {
  let count = 0
  const lacking = ['no-such', 'nor_this']
  const { result, missing } = await installAvailable(['pandas', ...lacking], NONE, (words) => {
    count += 1
    const output = lacking.map((name) => `ERROR: No matching distribution found for ${name}`).join('\n')
    return words.length > 1 ? Promise.reject(new InstallError('the first one', output)) : Promise.resolve(words)
  })
  expect([result, count]).toEqual([['pandas'], 2])
  expect(missing.map(({ reason }) => reason)).toEqual(
    lacking.map((name) => `No matching distribution found for ${name}`),
  )
})

it('a package index that does not answer is asked once, and every package is missing', async () => {
  let count = 0
  const offline = new InstallError(
    'unreachable',
    'Retrying (Retry(total=4))\nERROR: No matching distribution for pandas',
  )
  const { result, missing } = await installAvailable(['pandas', 'numpy'], NONE, () => {
    count += 1
    return Promise.reject(offline)
  })
  expect([result, count, missing.map(({ name }) => name)]).toEqual([undefined, 1, ['pandas', 'numpy']])
})

it.each([
  [['numpy', 'pandas'], 'ERROR: Cannot install numpy<1 and pandas because these have conflicts', ['pandas']],
  [['Scikit-Learn>=1'], 'ERROR: No matching distribution found for scikit_learn>=1', ['Scikit-Learn>=1']],
  [['parent'], 'ERROR: No version that satisfies the requirement dep==9 (from parent)', ['parent']],
  [['num'], 'ERROR: No matching distribution found for numpy', []],
  [
    ['/w/tinypkg-1.0-py3-none-any.whl'],
    'ERROR: tinypkg-1.0-py3-none-any.whl is invalid',
    ['/w/tinypkg-1.0-py3-none-any.whl'],
  ],
])('of %j, the output %s blames %j', (words, output, blamed) => {
  expect(blame(words, new InstallError('reason', output))).toEqual(blamed)
})

it('a failure is remembered for the next start, until it is forgotten', async () => {
  const memory = newFolder()
  const { attempt, attempts } = installer(['no-such'])
  const start = (kind: string) => installAvailable(['tiny', 'no-such'], { memory, kind }, attempt)
  const first = await start('one')
  expect(await start('one')).toEqual(first)
  expect(attempts).toEqual([['tiny', 'no-such'], ['tiny'], ['tiny']])
  await start('another image')
  expect(attempts.length).toBe(5)
  await forgetMissing(memory)
  await start('one')
  expect(attempts.length).toBe(7)
})
