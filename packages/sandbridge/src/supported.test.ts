import { readFileSync } from 'node:fs'
import path from 'node:path'
import { ROOT } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { expect, it } from 'vitest'
import { whyUnsupported } from './supported.ts'

const runtime = (node: string, others: Record<string, string> = {}) =>
  whyUnsupported({ versions: { ...process.versions, node, ...others }, execPath: '/opt/node' })

it.each(['20.19.0', '20.20.2', '21.0.0', '22.0.0', '23.4.0', '26.1.0'])('Node %s runs the bridge', (version) => {
  expect(runtime(version)).toBeUndefined()
})

it.each(['10.24.1', '18.20.4', '20.9.0', '20.18.9'])('Node %s is told which one is needed', (version) => {
  expect(runtime(version)).toMatch(
    new RegExp(`^Sandbridge needs Node 20\\.19 or newer, and was started with Node ${version} \\(/opt/node\\)\\. `),
  )
})

it('the version that is needed is the one that package.json names', () => {
  const { engines } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { engines: { node: string } }
  expect(runtime('1.0.0')).toContain(`Node ${engines.node.replace('>=', '')} or newer`)
})

it('a program that only looks like Node is named', () => {
  expect(runtime('24.3.0', { bun: '1.3.0' })).toContain('needs Node 20.19 or newer, and was started with bun 1.3.0')
  expect(runtime('24.3.0', { deno: '2.5.0' })).toContain('was started with deno 2.5.0')
})
