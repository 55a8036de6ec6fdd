// This file verifies that workflows and files travel in one bundle, which is the same wherever it is made, and that a
// manipulated bundle changes nothing.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, expect, it, vi } from 'vitest'
import {
  bridgeEnv,
  CLI,
  fixtureServer,
  makeHome,
  openTestBridge,
  closeTestBridge,
} from '../../support/bridge-process.ts'
import { readZip } from '../../../src/util/bytes/zip-archive.ts'
import { makeZip, type ZipFile } from '../../support/make-zip.ts'
import { needsProgram } from '../../support/needs.ts'
import { runProgram } from '../../support/run-program.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

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

it('a bundle that is exported again is the same file, and another zip program reads it', async () => {
  const again = path.join(home, 'again.sbx')
  await at(home, 'export', 'weekly-report', 'report.csv', '-o', again)
  expect(readFileSync(again).equals(readFileSync(bundle))).toBe(true)
  expect(readFileSync(bundle).includes('s3cret')).toBe(false)
  needsProgram('python3')
  const listed = await runProgram('python3', ['-m', 'zipfile', '-l', bundle], { PATH: process.env['PATH'] ?? '' })
  for (const name of ['tools/double.json', 'tools/weekly_report.json', 'artifacts/report.csv', 'manifest.json'])
    expect(listed.stdout).toContain(name)
  expect((await at(home, 'export')).stderr).toContain('it exists already')
})

it('a bundle is shown first, and imported when confirmed', async () => {
  const other = makeHome()
  const shown = await at(other, 'import', bundle, '--dry-run')
  expect(shown.stdout).toBe(
    'The bundle holds:\n  function double: new\n  workflow weekly-report: new\n  artifact report.csv: 8 bytes\n' +
      'These servers are not configured here: ledger\n',
  )
  expect((await at(other, 'saved', '--json')).stdout).toBe('[]\n')
  const done = await at(other, 'import', bundle, '--yes')
  expect(done.stdout, done.stderr).toContain('double: version 1\nweekly_report: version 1\nreport.csv: version 1\n')
  expect((await at(other, 'artifacts', 'show', 'report.csv')).stdout).toBe('a,b\n1,2\n')
  expect((await at(other, 'import', bundle, '--dry-run')).stdout).toContain('weekly-report: the same source as yours')
  const [listed] = JSON.parse((await at(other, 'workflows', '--json')).stdout) as { workflow: { uses: object[] } }[]
  // A bundle's claims about tools are not trusted.
  expect(listed!.workflow.uses).toMatchObject([
    { tool: 'add_line', readOnly: false },
    { tool: 'lines', readOnly: false },
  ])
})

/** Repacks the bundle: `change` gets its entries. */
function tampered(name: string, change: (entries: ZipFile[]) => void): string {
  const file = path.join(home, `${name}.sbx`)
  const entries = readZip(readFileSync(bundle), 1 << 20).map((entry) => ({ ...entry, isStored: true }))
  change(entries)
  writeFileSync(file, makeZip(entries))
  return file
}

const adds =
  (name: string, more: Partial<ZipFile> = {}) =>
  (entries: ZipFile[]) =>
    void entries.unshift({ name, data: 'x', isStored: true, ...more })

it.each([
  ['a path to a parent', adds('../../outside'), 'has an entry outside of it'],
  ['an absolute path', adds('/tmp/outside'), 'has an entry outside of it'],
  ['a path of Windows', adds('artifacts/C:\\x'), 'has an entry outside of it'],
  ['a symbolic link', adds('artifacts/link', { data: '/etc/passwd', mode: 0o120777 }), 'that is not a plain file'],
  [
    'a zip bomb',
    adds('artifacts/bomb', { data: Buffer.alloc(100_000_000), isStored: false }),
    'has a compressed entry',
  ],
  ['an entry twice', adds('artifacts/report.csv'), 'has two entries of one name'],
  ['other bytes', ([first]: ZipFile[]) => void (first!.data = 'evil'), 'another checksum than its manifest says'],
  ['an entry too many', adds('artifacts/more'), 'another checksum than its manifest says'],
  ['an unknown entry', adds('bin/run'), 'has an unknown entry'],
  ['an entry too few', (entries: ZipFile[]) => void entries.shift(), 'lacks an entry that its manifest lists'],
  ['no manifest', (entries: ZipFile[]) => void entries.pop(), 'has no manifest.json'],
])('a bundle with %s is refused whole', async (name, change, problem) => {
  const file = tampered(name.replaceAll(' ', '-'), change)
  const { code, stdout, stderr } = await at(home, 'import', file, '--yes')
  expect(code).toBe(2)
  expect(stdout).toBe('')
  expect(stderr).toContain(problem)
  expect(stderr).toContain('Nothing was imported')
})

it.each([
  ['cut off', (data: Buffer) => data.subarray(0, data.length - 30)],
  ['no zip', () => Buffer.from('<html>'.repeat(100))],
  ['with bytes before it', (data: Buffer) => Buffer.concat([Buffer.from('#!/bin/sh\n'), data])],
  ['empty', () => Buffer.alloc(0)],
])('a bundle is refused when its file is %s', async (name, change) => {
  const file = path.join(home, `${name.replaceAll(' ', '-')}.bad`)
  writeFileSync(file, change(readFileSync(bundle)))
  expect(await at(home, 'import', file, '--yes')).toMatchObject({ code: 2, stdout: '' })
})

it('an export writes through no link, and over no file', async () => {
  const target = path.join(home, 'target')
  mkdirSync(path.join(home, 'links'))
  symlinkSync(target, path.join(home, 'links/out.sbx'))
  expect((await at(home, 'export', '-o', path.join(home, 'links/out.sbx'))).code).toBe(2)
  expect(existsSync(target)).toBe(false)
})
