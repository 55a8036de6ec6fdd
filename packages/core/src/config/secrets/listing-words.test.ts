import { expect, it } from 'vitest'
import { createListingCleaner } from './listing-words.ts'

const secret = 'tk_9fQ2xL7vB4mZ8sWc1NhRj6Yd'
const clean = createListingCleaner({
  type: 'stdio',
  command: 'serve',
  args: ['/home/bob/files'],
  env: { SECRET: secret, LEVEL: 'info', PORT: '8080' },
})

it('a tool listing loses the secrets of its definition, and keeps what a call needs', () => {
  const tool = {
    name: `tool-${secret}`,
    description: `Sends ${secret} to\nport 8080 for /home/bob/files, logs at info`,
    inputSchema: {
      type: 'object',
      properties: {
        key: { type: 'string', default: secret, description: `for example ${secret.slice(0, 12)}`, enum: ['info'] },
      },
      required: ['key'],
    },
    annotations: { title: `With ${secret}`, readOnlyHint: true },
  }
  expect(clean(tool)).toEqual({
    name: `tool-${secret}`,
    description: 'Sends [redacted] to\nport 8080 for /home/bob/files, logs at info',
    inputSchema: {
      type: 'object',
      properties: {
        key: { type: 'string', default: '[redacted]', description: 'for example [redacted]', enum: ['info'] },
      },
      required: ['key'],
    },
    annotations: { title: 'With [redacted]', readOnlyHint: true },
  })
})

it('the texts of a tool listing are cleaned', () => {
  expect(clean('\u001b[31mUse\u202e me\u200b')).toBe('Use me')
  expect(clean({ prompts: [{ description: 'a\0b', uri: 'x:a\0b' }] })).toEqual({
    prompts: [{ description: 'ab', uri: 'x:a\0b' }],
  })
})

it('a tool listing that is nested too deeply is cut', () => {
  const deep: Record<string, unknown> = {}
  let inner = deep
  for (let depth = 0; depth < 5_000; depth += 1) inner = inner['items'] = {} as Record<string, unknown>
  expect(JSON.stringify(clean(deep)).length).toBeLessThan(3_000)
})
