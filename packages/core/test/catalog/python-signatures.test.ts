// This file verifies that every signature is valid Python: `ast.parse` accepts it, whatever the schema.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isPythonKeyword, pythonName } from '../../src/util/text/python-name.ts'
import { FULL, parametersText, SHORT, signatureOf } from '../../src/calls/catalog/signature/signature.ts'
import { typeText } from '../../src/calls/catalog/signature/schema-type.ts'
import type { UpstreamTool } from '../../src/upstream/upstream.ts'
import { needsProgram, skip } from '../support/suite/needs.ts'
import { anyCharacter } from '../support/suite/any-character.ts'

const PARSE = `
import ast, json, re, sys, unicodedata
for line in sys.stdin:
    try:
        source = json.loads(line)
        ast.parse(source)
        print("ok")
    except Exception as error:
        # Node may know letters of a later Unicode than this Python.
        later = re.search(r"invalid (?:non-printable )?character .*U\\+(\\w+)", str(error))
        if later and unicodedata.category(chr(int(later[1], 16))) == "Cn":
            print("ok")
            continue
        print(json.dumps(f"{error!r} in {source[:500]!a}"))
`

/** Python's verdict on each source: `ok` or the error. */
function parsed(sources: string[]): string[] {
  needsProgram('python3')
  // JSON.stringify escapes lone surrogates and Python reads the rest as UTF-8.
  const input = sources.map((source) => JSON.stringify(source)).join('\n')
  const { stdout, status } = spawnSync('python3', ['-c', PARSE], {
    input,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: { ...process.env, PYTHONIOENCODING: 'utf-8' },
  })
  expect(status).toBe(0)
  // Python ends lines as its system does.
  return stdout.trimEnd().split(/\r?\n/)
}

const name = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 12 }),
  fc.constantFrom(
    'from',
    'class',
    'None',
    '__debug__',
    'more',
    'arguments',
    'a-b',
    'a_b',
    '__proto__',
    'match',
    '1st',
    "it's",
    'a\nb',
  ),
)

const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 6, depthSize: 'medium' },
    fc.constantFrom<unknown>(true, false, null, 7, 'text', [], {}),
    fc.record({ type: fc.constantFrom('string', 'integer', 'number', 'boolean', 'null', 'array', 'object', 'x') }),
    fc.record({ type: fc.array(fc.constantFrom('string', 'null', 'array', 'object')), nullable: fc.boolean() }),
    fc.record({ enum: fc.array(fc.jsonValue({ stringUnit: anyCharacter })) }),
    fc.record({ const: fc.jsonValue({ stringUnit: anyCharacter }) }),
    fc.record({ $ref: fc.constantFrom('#', '#/properties/a', '#/$defs/x', '#/%zz', 'other.json', '#/items') }),
    fc.record({ type: fc.constant('array'), items: tie('schema') }),
    fc.record({ prefixItems: fc.array(tie('schema'), { maxLength: 10 }), items: tie('schema') }),
    fc.record({ anyOf: fc.array(tie('schema'), { maxLength: 4 }) }),
    fc.record({ oneOf: fc.array(tie('schema'), { maxLength: 4 }), type: fc.constantFrom('object', 'string') }),
    fc.record({ allOf: fc.array(tie('schema'), { maxLength: 4 }) }),
    fc.record({ not: tie('schema') }),
    fc.record({ type: fc.constant('object'), additionalProperties: tie('schema') }),
    fc.record({ patternProperties: fc.dictionary(name, tie('schema'), { maxKeys: 2 }) }),
    fc.record(
      {
        type: fc.constant('object'),
        properties: fc.dictionary(name, tie('schema'), { maxKeys: 6 }),
        required: fc.array(name, { maxLength: 4 }),
        additionalProperties: fc.boolean(),
        default: fc.jsonValue({ stringUnit: anyCharacter }),
        description: fc.string({ unit: anyCharacter }),
        $defs: fc.record({ x: tie('schema') }),
      },
      { requiredKeys: [] },
    ),
  ),
}))

function sourcesFor(toolName: string, inputSchema: unknown, outputSchema: unknown): string[] {
  const signature = signatureOf(inputSchema)
  const alias = pythonName(toolName, 'tool')
  const safeName = isPythonKeyword(alias) ? `${alias}_` : alias
  return [SHORT, FULL].map((limits) => {
    const returns = typeText(outputSchema, outputSchema, limits.requiredType)
    return `async def ${safeName}(${parametersText(signature, limits)}) -> ${returns}: ...`
  })
}

it('the Python signature of every generated schema is valid Python', () => {
  const sample = fc.sample(fc.tuple(name, schema, schema), { numRuns: 700 })
  const sources = sample.flatMap(([toolName, input, output]) => sourcesFor(toolName, input, output))
  expect(sources.every((source) => !/[\n\r]/.test(source))).toBe(true)
  expect(parsed(sources).filter((line) => line !== 'ok')).toEqual([])
})

it('control: an invalid Python signature is noticed', () => {
  expect(parsed(['def f(a?: str): ...', 'def f(*, a: str) -> None: ...'])[0]).toMatch(/SyntaxError/)
  // The second is a letter of Unicode 17, as a later Python may know.
  expect(parsed(['def f\u0001(): ...', 'def f\u{323B0}(): ...'])).toEqual([expect.stringMatching(/U\+0001/), 'ok'])
})

it('the Python signature of every recorded tool is valid Python', () => {
  const file = process.env['SANDBRIDGE_CATALOGUE'] ?? ''
  if (file === '') skip('only on request: SANDBRIDGE_CATALOGUE names a file of recorded tools')
  const recorded = JSON.parse(readFileSync(file, 'utf8')) as Record<string, UpstreamTool[]>
  const sources = Object.values(recorded)
    .flat()
    .flatMap((tool) => sourcesFor(tool.name, tool.inputSchema, tool.outputSchema ?? {}))
  expect(sources.length).toBeGreaterThan(0)
  expect(parsed(sources).filter((line) => line !== 'ok')).toEqual([])
})
