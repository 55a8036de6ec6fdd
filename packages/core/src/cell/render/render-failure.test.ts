import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import { BridgeError } from '../../errors.ts'
import { renderFailure } from './render-result.ts'

describe('an error of the bridge', () => {
  const error = new BridgeError('SESSION_LIMIT', '16 cells are waiting', { hint: 'Wait.' })

  it('an error of the bridge is rendered as its message and its hint, as text and as data', () => {
    expect(renderFailure(error, { mode: 'compact', outputTokens: 6_000, withData: true })).toEqual({
      isError: true,
      content: [{ type: 'text', text: '16 cells are waiting\nWait.' }],
      structuredContent: { status: 'error', error: { code: 'SESSION_LIMIT', message: error.message, hint: 'Wait.' } },
    })
    expect(renderFailure(error, { mode: 'compact', outputTokens: 6_000 })).not.toHaveProperty('structuredContent')
    expect(renderFailure(new TypeError('oops'), { mode: 'compact', outputTokens: 6_000 })).toEqual({
      isError: true,
      content: [{ type: 'text', text: 'sandbridge failed: oops' }],
    })
    const files = renderFailure(new Error('EMFILE: too many open files'), { mode: 'compact', outputTokens: 6_000 })
    expect(files.content).toMatchObject([{ text: expect.stringMatching(/\n.*`ulimit -n`/) as string }])
  })

  it.each(['x'.repeat(100_000), '報🚀"\\'.repeat(20_000), '\n'.repeat(100_000)])(
    'an error of the bridge is cut to the budget, whatever it quotes: %#',
    (quoted) => {
      const both = new BridgeError('PROXY_SERVER_UNAVAILABLE', `Server '${quoted}' is missing`, {
        hint: `There are ${quoted}, so begin again`,
      })
      for (const thrown of [both, new Error(quoted)]) {
        for (const outputTokens of [100, 500, 6_000]) {
          const rendered = renderFailure(thrown, { mode: 'compact', outputTokens })
          const [block] = rendered.content
          const text = block?.type === 'text' ? block.text : ''
          const data = rendered.structuredContent ? JSON.stringify(rendered.structuredContent) : ''
          expect(countTokens(text) + countTokens(data)).toBeLessThanOrEqual(outputTokens * 1.1)
          if (thrown === both) expect(text).toMatch(/^Server '[^]*is missing\nThere are [^]*begin again$/)
        }
      }
    },
  )
})
