// @module-tag whole: a command for most tests
// This file verifies that workflows and files travel in one bundle, which is the same wherever it is made, and that a
// manipulated bundle changes nothing.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import {
  bridgeEnv,
  CLI,
  fixtureServer,
  makeHome,
  openTestBridge,
  closeTestBridge,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { packTar, unpackTar } from 'modern-tar'
import { needsProgram } from '@sandbridge/core/test/support/suite/needs.ts'
import { runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'
import { needsLinks } from '@sandbridge/core/test/support/suite/needs.ts'

const SAVE = `
def double(n: int) -> int:
    return 2 * n
runtime.save_tool(double)
from user_tools import double
async def weekly_report(week: int, title: str = "x") -> str:
    """Writes a line."""
    await mcp_ledger.lines()
    return await mcp_ledger.add_line(text=f"{title} {double(week)}")
runtime.save_workflow("weekly-report", weekly_report)
runtime.save_artifact("report.csv", b"a,b\\n1,2\\n")`

let home: string
let bundle: string
const at = (folder: string, ...args: string[]) =>
  runProgram(process.execPath, [CLI, ...args], bridgeEnv(folder), { cwd: folder })

beforeAll(async () => {
  home = makeHome({ ledger: { ...fixtureServer('ledger.mjs'), env: { LEDGER: '/nonexistent/s3cret' } } })
  bundle = path.join(home, 'bundle.sbx')
  const bridge = await openTestBridge({ home })
  const saved = await bridge.call({ code: SAVE })
  expect(saved.isError, saved.text).toBe(false)
  expect((await at(home, 'export')).stdout).toContain('It needs these servers, which are not in it: ledger')
  return () => closeTestBridge(bridge)
})

it('a bundle that is exported again is the same file, and another tar program reads it', async () => {
  const again = path.join(home, 'again.sbx')
  await at(home, 'export', 'weekly-report', 'report.csv', '-o', again)
  expect(readFileSync(again).equals(readFileSync(bundle))).toBe(true)
  expect(readFileSync(bundle).includes('s3cret')).toBe(false)
  needsProgram('tar')
  // To some, a colon in the name says which machine has the file.
  const options = { cwd: home }
  const listed = await runProgram('tar', ['-tf', 'bundle.sbx'], { PATH: process.env['PATH'] ?? '' }, options)
  for (const name of ['tools/double.json', 'tools/weekly_report.json', 'artifacts/report.csv', 'manifest.json'])
    expect(listed.stdout).toContain(name)
  expect((await at(home, 'export')).stderr).toContain('it exists already')
})

it('a bundle is shown first, and imported when confirmed', async () => {
  const other = makeHome()
  const shown = await at(other, 'import', bundle, '--dry-run')
  expect(shown.stdout).toBe(
    'The bundle holds:\n  function double: new\n  workflow weekly-report: new\n  artifact report.csv: 8 bytes, new\n' +
      'These servers are not configured here: ledger\n',
  )
  expect((await at(other, 'saved', '--json')).stdout).toBe('[]\n')
  const done = await at(other, 'import', bundle, '--yes')
  expect(done.stdout, done.stderr).toContain('double: version 1\nweekly_report: version 1\nreport.csv: version 1\n')
  expect((await at(other, 'artifacts', 'report.csv')).stdout).toBe('a,b\n1,2\n')
  const again = await at(other, 'import', bundle, '--dry-run')
  expect(again.stdout).toContain('weekly-report: the same source as yours')
  expect(again.stdout).toContain('report.csv: 8 bytes, the same as yours')
  await at(other, 'exec', '-c', 'runtime.save_artifact("report.csv", "newer")')
  const older = await at(other, 'import', bundle, '--dry-run')
  expect(older.stdout).toContain('report.csv: 8 bytes, differs from your version 2')
  const [listed] = JSON.parse((await at(other, 'workflows', '--json')).stdout) as { workflow: { uses: object[] } }[]
  // A bundle's claims about tools are not trusted.
  expect(listed!.workflow.uses).toMatchObject([
    { tool: 'add_line', readOnly: false },
    { tool: 'lines', readOnly: false },
  ])
})

interface Entry {
  header: { name: string; size: number; type?: 'file' | 'symlink' | 'directory'; linkname?: string }
  data?: Uint8Array<ArrayBuffer>
}

/** Repacks the bundle: `change` gets its entries. */
async function tampered(name: string, change: (entries: Entry[]) => void): Promise<string> {
  const file = path.join(home, `${name}.sbx`)
  const entries: Entry[] = await unpackTar(readFileSync(bundle)).then((all) =>
    all.map(({ header: { name: entry, size }, data }) => ({ header: { name: entry, size }, ...(data && { data }) })),
  )
  change(entries)
  writeFileSync(file, await packTar(entries))
  return file
}

const adds =
  (name: string, header: Partial<Entry['header']> = {}) =>
  (entries: Entry[]) =>
    void entries.unshift({ header: { name, size: 0, type: 'file', ...header } })

it.each([
  ['a path to a parent', adds('../../outside'), 'has an entry outside of it'],
  ['an absolute path', adds('/tmp/outside'), 'has an entry outside of it'],
  ['a path of Windows', adds('artifacts/C:\\x'), 'has an entry outside of it'],
  ['a symbolic link', adds('artifacts/link', { type: 'symlink', linkname: '/etc/passwd' }), 'that is not a plain file'],
  ['a folder', adds('artifacts/', { type: 'directory' }), 'that is not a plain file'],
  ['an entry twice', adds('artifacts/report.csv'), 'has two entries of one name'],
  [
    'other bytes',
    (entries: Entry[]) => {
      const file = entries.find(({ header }) => header.name === 'artifacts/report.csv')
      file!.data = new Uint8Array(file!.header.size)
    },
    'another checksum than its manifest says',
  ],
  ['an entry too many', adds('artifacts/more'), 'another checksum than its manifest says'],
  ['an unknown entry', adds('bin/run'), 'has an unknown entry'],
  ['an entry too few', (entries: Entry[]) => void entries.shift(), 'lacks an entry that its manifest lists'],
  ['no manifest', (entries: Entry[]) => void entries.pop(), 'has no manifest.json'],
])('a bundle with %s is refused whole', async (name, change, problem) => {
  const file = await tampered(name.replaceAll(' ', '-'), change)
  const { code, stdout, stderr } = await at(home, 'import', file, '--yes')
  expect(code).toBe(2)
  expect(stdout).toBe('')
  expect(stderr).toContain(problem)
  expect(stderr).toContain('Nothing was imported')
})

it.each([
  ['cut off', (data: Buffer) => data.subarray(0, 3_000)],
  ['no tar', () => Buffer.from('<html>'.repeat(100))],
  ['with bytes before it', (data: Buffer) => Buffer.concat([Buffer.from('#!/bin/sh\n'), data])],
  ['empty', () => Buffer.alloc(0)],
])('a bundle is refused when its file is %s', async (name, change) => {
  const file = path.join(home, `${name.replaceAll(' ', '-')}.bad`)
  writeFileSync(file, change(readFileSync(bundle)))
  expect(await at(home, 'import', file, '--yes')).toMatchObject({ code: 2, stdout: '' })
})

it('a bundle that is not there, and nothing to export, are told in words', async () => {
  const missing = await at(home, 'import', 'none.sbx')
  expect(missing).toMatchObject({ code: 2, stderr: "sandbridge: The file 'none.sbx' cannot be read: no such file\n" })
  const none = await at(makeHome(), 'export')
  expect(none).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no function or artifact was saved') as string,
  })
})

it('an export writes through no link, and over no file', async () => {
  needsLinks()
  const target = path.join(home, 'target')
  mkdirSync(path.join(home, 'links'))
  symlinkSync(target, path.join(home, 'links/out.sbx'))
  expect((await at(home, 'export', '-o', path.join(home, 'links/out.sbx'))).code).toBe(2)
  expect(existsSync(target)).toBe(false)
})
