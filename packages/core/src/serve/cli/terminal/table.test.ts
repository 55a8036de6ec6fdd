import { expect, it, vi } from 'vitest'
import { type Cell, printEmpty, printSummary, printTable } from './print.ts'

const ROWS: Cell[][] = [
  ['github', { text: '26 tools', style: 'green' }, 'issues and pull requests of repositories'],
  ['db', { text: 'failed', style: 'red' }, 'no such host'],
]

/** What `write` prints to a terminal of 40 columns or to a pipe. */
function written(isTTY: boolean, write: () => void): { stdout: string; stderr: string } {
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      said[name] += String(text)
      return true
    })
  }
  const before = { isTTY: process.stdout.isTTY, columns: process.stdout.columns }
  Object.assign(process.stdout, { isTTY, columns: 40 })
  try {
    write()
  } finally {
    Object.assign(process.stdout, before)
    vi.restoreAllMocks()
  }
  return said
}

it('a table pads columns and shows no colour, head or summary in a pipe', () => {
  const { stdout } = written(false, () => {
    printTable(ROWS, { head: ['NAME', 'STATE', 'WHAT'] })
    printSummary('2 servers')
  })
  expect(stdout).toBe('github  26 tools  issues and pull requests of repositories\ndb      failed    no such host\n')
})

it('a table shows head, colour and summary on a terminal, and wraps the last column below itself', () => {
  vi.stubEnv('NO_COLOR', '')
  vi.stubEnv('TERM', 'xterm')
  const { stdout } = written(true, () => {
    printTable(ROWS, { head: ['NAME', 'STATE', 'WHAT'] })
    printSummary('2 servers')
  })
  const lines = stdout.split('\n')
  expect(lines[0]).toContain('\u001b[2mNAME')
  expect(lines[1]).toBe('github  \u001b[32m26 tools\u001b[39m  issues and pull')
  expect(lines[2]).toBe('                  requests of')
  expect(lines[3]).toBe('                  repositories')
  expect(lines[4]).toBe('db      \u001b[31mfailed\u001b[39m    no such host')
  expect(lines.slice(5)).toEqual(['', '\u001b[2m2 servers\u001b[22m', ''])
})

it('a table shows no colour where NO_COLOR is set', () => {
  vi.stubEnv('NO_COLOR', '1')
  expect(written(true, () => printTable(ROWS)).stdout).not.toContain('\u001b')
})

it('a table escapes what others wrote, in styled cells as well', () => {
  const { stdout } = written(false, () => printTable([[{ text: 'a\u001b[2K', style: 'red' }]]))
  expect(stdout).toBe('a\\u001b[2K\n')
})

it('an empty list is reported on stdout in a terminal, and on stderr beside a pipe', () => {
  expect(written(true, () => printEmpty('Nothing yet.'))).toEqual({ stdout: 'Nothing yet.\n', stderr: '' })
  expect(written(false, () => printEmpty('Nothing yet.'))).toEqual({ stdout: '', stderr: 'Nothing yet.\n' })
})
