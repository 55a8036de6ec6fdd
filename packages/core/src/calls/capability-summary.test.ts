import { readdirSync, readFileSync } from 'node:fs'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import { capabilitySummary, type SandboxFacts } from './capability-summary.ts'

const FACTS: SandboxFacts = {
  session: 'shared',
  packages: [],
  timeoutMs: 30_000,
  maxTimeoutMs: 120_000,
  runtimeIdleTimeoutMs: 300_000,
}

const ROOT = new URL('../../../../', import.meta.url)
const read = (page: string) => readFileSync(new URL(page, ROOT), 'utf8')

it('every example of the summary can be copied: it imports the modules that it uses', () => {
  const pages = ['README.md', ...readdirSync(new URL('docs', ROOT)).map((page) => `docs/${page}`)]
  const blocks = pages
    .filter((page) => page.endsWith('.md'))
    .flatMap((page) => [...read(page).matchAll(/```python\n([^]*?)```/g)].map((match) => match[1]!))
  const examples = [...blocks, ...capabilitySummary({ servers: [], savedTools: [], facts: FACTS }).split('\n')]
  expect(examples.filter((example) => example.includes('asyncio.'))).not.toHaveLength(0)
  for (const example of examples) {
    for (const module of ['asyncio', 'json', 'math', 're', 'time', 'os', 'sys', 'datetime', 'collections']) {
      if (!new RegExp(`(?<![\\w./])${module}\\.[a-z]+\\(`).test(example)) continue
      expect(example).toMatch(new RegExp(`import [\\w, ]*\\b${module}\\b`))
    }
  }
})

describe('the summary', () => {
  const servers = Array.from({ length: 15 }, (_, index) => ({
    name: `some-server-${index}`,
    alias: `some_server_${index}`,
    description:
      'Repositories, issues, pull requests and reviews of an organisation, its wiki and its releases '.repeat(3),
    roots: index < 3 ? ['/home/someone/Documents/projects', '/srv/data'] : [],
  }))
  const text = capabilitySummary({ servers, savedTools: [], facts: FACTS })

  it('the summary takes at most 1,200 tokens with 15 servers, and 350 with none', () => {
    expect(encode(text).length).toBeLessThanOrEqual(1200)
    expect(encode(capabilitySummary({ servers: [], savedTools: [], facts: FACTS })).length).toBeLessThanOrEqual(350)
  })

  it('the summary shows a hundred of many servers, those that can be reached first', () => {
    const many = Array.from({ length: 250 }, (_, index) => {
      return { name: `s${index}`, alias: `s${index}`, isUnavailable: index < 200 }
    })
    const shown = capabilitySummary({ servers: many, savedTools: [], facts: FACTS })
    const lines = shown.split('\n').filter((line) => line.startsWith('- '))
    expect(lines).toHaveLength(101)
    expect([lines[0], lines[49], lines[50]]).toEqual(['- mcp_s200', '- mcp_s249', '- mcp_s0: unavailable'])
    expect(lines.at(-1)).toBe('- and 150 more: runtime.discovered_servers()')
    expect(shown).toContain('Servers (250):')
  })

  it('the summary names limits, what is kept, how to see the rest of an output, and how to show an image', () => {
    for (const said of [
      '30 s a cell',
      'up to 2 min',
      'until 5 min',
      'runtime.output(',
      'runtime.grep(',
      'runtime.progress(',
    ]) {
      expect(text).toContain(said)
    }
    expect(text).toMatch(/image.*display\(x\)/)
  })

  it('the summary names the folders of file servers', () => {
    expect(text).toMatch(
      /- mcp_some_server_0 \(some-server-0\): .*serves \/home\/someone\/Documents\/projects, \/srv\/data/,
    )
  })

  it('the summary says only of an unavailable server that it is unavailable', () => {
    const broken = { name: 'x', alias: 'x', description: 'Words', isUnavailable: true }
    const told = capabilitySummary({ servers: [broken], savedTools: [], facts: FACTS })
    expect(told).toContain('\n- mcp_x: unavailable')
    expect(told).not.toContain('Words')
  })

  it('the summary does not promise that variables stay where each cell has a sandbox of its own', () => {
    const fresh = capabilitySummary({ servers: [], savedTools: [], facts: { ...FACTS, session: 'fresh' } })
    expect(fresh).toContain('Kept: nothing from cell to cell')
    expect(fresh).not.toContain('variables')
  })
})
