import { expect, it } from 'vitest'
import type { CopiedServer } from './registry-copy.ts'
import { rank } from './rank.ts'

const server = (name: string, texts: { title?: string; description?: string } = {}): CopiedServer => ({
  server: { name, version: '1.0.0', packages: [], remotes: [], title: undefined, description: undefined, ...texts },
  deprecated: false,
})

it('a word of a name comes before one of a title and of a description, and a whole word before a part of one', () => {
  const servers = [
    server('a.inside/someforecasts'),
    server('a.described/x', { description: 'A forecast for any place' }),
    server('a.started/forecaster'),
    server('a.titled/x', { title: 'Forecast' }),
    server('a.named/forecasts'),
    server('a.other/x'),
  ]
  const found = rank(servers, 'forecasts', 10).map((hit) => hit.found.server.name)
  const order = ['a.named/forecasts', 'a.titled/x', 'a.started/forecaster', 'a.described/x', 'a.inside/someforecasts']
  expect(found).toEqual(order)
})
