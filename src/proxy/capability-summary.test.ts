import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { capabilitySummary } from './capability-summary.ts'

const ROOT = new URL('../../', import.meta.url)
const read = (page: string) => readFileSync(new URL(page, ROOT), 'utf8')

it('every example can be copied: it imports the modules that it uses', () => {
  const pages = ['README.md', ...readdirSync(new URL('docs', ROOT)).map((page) => `docs/${page}`)]
  const blocks = pages
    .filter((page) => page.endsWith('.md'))
    .flatMap((page) => [...read(page).matchAll(/```python\n([^]*?)```/g)].map((match) => match[1]!))
  const examples = [...blocks, ...capabilitySummary([]).split('\n')]
  expect(examples.filter((example) => example.includes('asyncio.'))).not.toHaveLength(0)
  for (const example of examples) {
    for (const module of ['asyncio', 'json', 'math', 're', 'time', 'os', 'sys', 'datetime', 'collections']) {
      if (!new RegExp(`(?<![\\w./])${module}\\.[a-z]+\\(`).test(example)) continue
      expect(example).toMatch(new RegExp(`import [\\w, ]*\\b${module}\\b`))
    }
  }
})
