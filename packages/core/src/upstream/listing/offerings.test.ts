import { expect, it } from 'vitest'
import type { Connection } from '../connection/connection.ts'
import { getPrompt, readResource } from './offerings.ts'

const answering = (result: object) =>
  ({
    server: 's',
    capabilities: { resources: {}, prompts: {} },
    ask: () => Promise.resolve(result),
  }) as never as Connection

it('the only item of a list may stand alone, and a text in place of an object', async () => {
  const contents = [{ uri: 'a:b', text: 'hi' }]
  for (const given of [contents, contents[0], ['hi'], 'hi'])
    expect(await readResource(answering({ contents: given }), 'a:b')).toEqual({ contents })
  expect(await readResource(answering({ content: contents }), 'a:b')).toMatchObject({ contents })
  await expect(readResource(answering({ contents: null }), 'a:b')).rejects.toThrow('a resource without contents')
  const messages = [{ role: 'user', content: { type: 'text', text: 'hi' } }]
  for (const given of [messages, messages[0], ['hi'], 'hi'])
    expect(await getPrompt(answering({ messages: given }), { name: 'p', arguments: {} })).toEqual({ messages })
})
