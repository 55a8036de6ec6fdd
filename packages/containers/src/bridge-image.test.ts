import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const read = (file: string): string => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')

/** What the bridge does not read there: the embedded sandbox is left out, and these are for people. */
const LEFT_OUT = /^!|pyodide|README|deploy|dashboards/

it('the image of the bridge has each file of a package that the published bridge has', () => {
  const { files } = JSON.parse(read('package.json')) as { files: string[] }
  const needed = files.filter((file) => /^!?packages\//.test(file) && !LEFT_OUT.test(file) && !file.endsWith('cli.cjs'))
  const copied = [...read('packages/containers/images/Containerfile.bridge').matchAll(/^COPY (packages\/\S+) /gm)]
  expect(new Set(copied.map(([, file]) => file))).toEqual(new Set(needed))
  const sent = read('.dockerignore').split('\n')
  expect(needed.filter((file) => !sent.includes(`!${file}`))).toEqual([])
})
