// This file verifies that values reach servers and cells as they were sent, in the type that was promised.
import { describe, expect, it } from 'vitest'
import { fixtureServer } from '../support/bridges/bridge-process.ts'
import { sharedBridge } from '../support/bridges/shared-bridge.ts'

const ID = '7960607143101464577'

const text = (words: string) => ({ type: 'text', text: words })
const schema = (properties: object) => ({ type: 'object', properties })
const boxed = (key: string, words: string) => ({
  outputSchema: schema({ [key]: { type: 'string' } }),
  result: JSON.stringify({ content: [text(words)], structuredContent: { [key]: words } }),
})
const IMAGE = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }
const FILE = '{\n  "version": 1.10\n}'

const tools = {
  exact: { result: `{"content":[],"structuredContent":{"b":${ID},"30":3.0,"7":[1e400,-0.0]}}` },
  file: boxed('content', FILE),
  list: boxed('result', "['a',  'b']\n"),
  page: { result: JSON.stringify({ content: [text('3 of 5 rows FAILED')], structuredContent: { status: 'ok' } }) },
  hits: { result: JSON.stringify({ content: [text('cut')], structuredContent: { result: [1] } }) },
  shot: {
    outputSchema: schema({ type: { type: 'string' }, data: { type: 'string' } }),
    result: JSON.stringify({ content: [IMAGE], structuredContent: IMAGE }),
  },
  chart: {
    outputSchema: schema({ rows: { type: 'integer' } }),
    result: JSON.stringify({ content: [text('{"rows": 3}'), IMAGE], structuredContent: { rows: 3 } }),
  },
  plain: { result: JSON.stringify({ content: [text(FILE)] }) },
  fenced: { result: JSON.stringify({ content: [text('```json\n{"a": 1}\n```')] }) },
  marked: { result: JSON.stringify({ content: [text('\u{FEFF}{"a": 1}')] }) },
  failed: { result: JSON.stringify({ content: [text('no such row')], isError: 'true' }) },
  echo: { inputSchema: { type: 'object', properties: { id: { type: 'integer' }, rank: { type: 'object' } } } },
}

describe('values of servers', () => {
  const shared = sharedBridge({
    env: { MCP_BRIDGE_LANGUAGES: 'python,javascript' },
    // Exact integers are written by BigInt.prototype, which bridges of one process share.
    ownProcess: true,
    servers: { t: fixtureServer('written.mjs', JSON.stringify(tools)) },
  })

  it('an argument beyond 2^53 arrives exactly, and keys in their order', async () => {
    const shown = async (args: string) => (await shared().run(`print(await mcp_t.echo(${args}))`)).trim()
    expect(await shown(`id=${ID}`)).toBe(`got {"id":${ID}}`)
    expect(await shown('id=-2**64')).toBe('got {"id":-18446744073709551616}')
    expect(await shown('rank={"b": 9, "30": [2**53 + 1], "7": 2}')).toBe(
      'got {"rank":{"b":9,"30":[9007199254740993],"7":2}}',
    )
  })

  it('two keys that are one in JSON are refused, as the value of one would be lost', async () => {
    expect(await shared().run('await mcp_t.echo(rank={"a": [{1: 2, "1": 3}]})')).toContain(
      "the keys 1 and '1' are both '1' in JSON: rename one",
    )
    expect(await shared().run('await mcp_t.echo(rank={True: 2, "true": 3})')).toContain("the keys True and 'true'")
    expect(await shared().run('print(await mcp_t.echo(rank={1: 2, None: [{True: 3}], 2.5: \'"1": x\'}))')).toContain(
      'got {"rank":{"1":2,"null":[{"true":3}],"2.5":"\\"1\\": x"}}',
    )
  })

  it('JavaScript sends a BigInt exactly and gets one', async () => {
    const js = async (code: string) => (await shared().callTool('run_javascript', { code })).text
    expect(await js(`await t.echo({ id: ${ID}n, rank: { b: [2n ** 64n] } })`)).toContain(
      `got {"id":${ID},"rank":{"b":[18446744073709551616]}}`,
    )
    expect(await js('const found = await t.exact(); [typeof found.b, String(found.b), Object.keys(found)]')).toContain(
      `[ 'bigint', '${ID}', [ 'b', '30', '7' ] ]`,
    )
  })

  it('structured content arrives exactly: integers, floats and the order of keys, and raw', async () => {
    const exact = `{'b': ${ID}, '30': 3.0, '7': [inf, -0.0]}`
    expect(await shared().run('print(await mcp_t.exact())')).toBe(exact)
    expect(await shared().run('print((await mcp_t.exact(raw=True)).structuredContent)')).toBe(exact)
  })

  it('what is promised to be a text stays one, byte for byte, and its data is at hand', async () => {
    const shown = await shared().run('v = await mcp_t.file(); print(repr(str(v)), v.json(), runtime.json(v).version)')
    expect(shown).toContain(
      `${JSON.stringify(FILE).replaceAll('\\"', '"').replaceAll(/^"|"$/g, "'")} {'version': 1.1} 1.1`,
    )
    expect(shown).toContain(
      '[kernel: The text of mcp_t.file looks like data but stays a str: its tool promises a str. runtime.json(text)',
    )
    expect(
      await shared().run('v = await mcp_t.file(); print(v.replace("1.10", "2") == v, type(v).__mro__[-2])'),
    ).not.toContain('[')
    expect(await shared().run('print(repr(str(await mcp_t.list())))')).toContain(`"['a',  'b']\\n"`)
    expect(await shared().run('print((await mcp_t.plain()).version)')).toBe('1.1')
  })

  it('a text beside data that says something else is carried and told of', async () => {
    const shown = await shared().run('v = await mcp_t.page(); print(v.status, v.texts, v)')
    expect(shown).toContain("ok ['3 of 5 rows FAILED'] {'status': 'ok'}")
    expect(shown).toContain('[sandbridge: t.page returned text that its data does not repeat: `.texts`')
    expect(await shared().run('v = await mcp_t.hits(); print(v, v.texts)')).toContain("[1] ['cut']")
  })

  it('an image beside data is shown and told of, and the value has the promised type in each language', async () => {
    const { text: shown, content } = await shared().call({
      code: 'v = await mcp_t.chart(); print(v, len(v.media[0].data)); v',
    })
    expect(shown).toContain("{'rows': 3} 8")
    expect(shown).toContain('[sandbridge: t.chart returned images or sounds beside its data: `.media` of the value')
    expect(content).toContainEqual(IMAGE)
    expect(await shared().run('v = await mcp_t.shot(); print(v.data, len(v.media))')).toBe('iVBORw0KGgo= 1')
    const code = 'const v = await t.chart(); [JSON.stringify(v), v.media[0].data.length]'
    expect((await shared().callTool('run_javascript', { code })).text).toContain(`[ '{"rows":3}', 8 ]`)
  })

  it('a text that is data behind a byte order mark or in a fence is told of', async () => {
    for (const tool of ['fenced', 'marked'])
      expect(await shared().run(`print(runtime.json(await mcp_t.${tool}()))`)).toMatch(
        /\{'a': 1\}\n.*a byte order mark or a fence/s,
      )
  })

  it('a failure is one however its server writes it', async () => {
    expect((await shared().call({ code: 'await mcp_t.failed()' })).text).toContain('no such row')
  })
})
