// Frames are defined three times: in docs/protocol.md, in src/cell/protocol (frames.ts and frame-schemas.ts) and in
// python/sandbridge_kernel/frame_types.py. This file reads each as a map from field to type, and fails when a field
// differs. The same for methods and their params.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import * as z from 'zod'
import { expect, it } from 'vitest'
import { kernelFrame } from '../../src/cell/protocol/frame-schemas.ts'
import { Cancellation } from '../../src/util/async/cancellation.ts'
import type { Bridge } from '../../src/bridge/bridge.ts'
import type { CellContext } from '../../src/calls/methods/method.ts'
import { serveCalls } from '../../src/calls/proxy.ts'
import { features, plugIn } from '../../src/cli/feature.ts'
import { FEATURES } from '../../src/features.ts'
import { readSettings } from '../../src/config/settings/settings.ts'
import { SILENT } from '../../src/util/log.ts'
import { skip } from '../support/needs.ts'
import { whyNoPython } from '../support/plain-kernel.ts'
import { runPython } from '../support/plain-python.ts'

plugIn(FEATURES)

const ROOT = path.join(import.meta.dirname, '..', '..')
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8')
const page = read('docs/protocol.md')

/** `error.hint?` to `string`, for every field of a frame besides `type`. */
type Fields = Record<string, string>
type Frames = Record<string, Fields>

// ---- docs/protocol.md

function section(heading: string): string {
  const start = page.indexOf(`\n## ${heading}\n`)
  expect(start, heading).toBeGreaterThan(0)
  const end = page.indexOf('\n## ', start + 1)
  return page.slice(start, end < 0 ? undefined : end)
}

const rows = (text: string) => [...text.matchAll(/^\| `([^`]+)` \|([^|]*)\|/gm)].map((row) => [row[1]!, row[2]!.trim()])

function documented(heading: string): Frames {
  const frames = section(heading).split('\n### ').slice(1)
  return Object.fromEntries(
    frames.map((text) => {
      const fields = rows(text).map(([field, type]) => {
        const literals = [...type!.matchAll(/`"(\w+)"`/g)].map((match) => match[1]!)
        return [field, literals.length > 0 ? literals.toSorted().join('|') : type!]
      })
      return [/^\w+/.exec(text)![0], Object.fromEntries(fields) as Fields]
    }),
  )
}

// ---- src/cell/protocol/frames.ts

interface Schema {
  type?: string
  const?: string | boolean
  enum?: string[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
}

function ofSchema({ properties = {}, required = [] }: Schema, prefix = ''): Fields {
  const fields: Fields = {}
  for (const [name, schema] of Object.entries(properties)) {
    if (name === 'type' && prefix === '') continue
    fields[`${prefix}${name}${required.includes(name) ? '' : '?'}`] = kindOf(schema)
    Object.assign(fields, ofSchema(schema, `${prefix}${name}.`))
  }
  return fields
}

function kindOf({ type, enum: values, items }: Schema): string {
  if (values) return values.toSorted().join('|')
  return type === 'array' ? `list of ${kindOf(items!)}` : (type ?? 'any')
}

/** Frames that the bridge sends are interfaces only: it does not parse its own output. */
function ofInterface(source: string, name: string, prefix = ''): Fields {
  const body = new RegExp(`interface ${name} \\{\\n(.*?)\\n\\}`, 's').exec(source)?.[1]
  const fields: Fields = {}
  for (const [, field, optional, type] of body?.matchAll(/^ {2}(\w+)(\??): (.+)$/gm) ?? [])
    if (field !== 'type' || prefix !== '') addMember(fields, source, `${prefix}${field}`, optional!, type!)
  return fields
}

function addMember(fields: Fields, source: string, field: string, optional: string, type: string): void {
  const [, name, isList] = /^(\w+)(\[\])?$/.exec(type)!
  const inner = ofInterface(source, name!, isList ? `${field}[].` : `${field}.`)
  const literals = new RegExp(`^export type ${name} = ('.*')$`, 'm').exec(source)?.[1]
  const named = literals === undefined ? name! : literals.match(/\w+/g)!.toSorted().join('|')
  const kind = Object.keys(inner).length > 0 ? 'object' : name === 'unknown' ? 'any' : named
  fields[`${field}${optional}`] = isList ? `list of ${kind}` : kind
  Object.assign(fields, inner)
}

function ofReply(source: string): Fields {
  const variants = /type ReplyFrame =((?:\s*\| \{.*\})+)/.exec(source)![1]!.trim().split('\n')
  const fields: Fields = {}
  for (const variant of variants)
    for (const [, field, type] of variant.matchAll(/(\w+): ([\w'[\]]+)/g))
      if (field !== 'type') {
        const isAlways = variants.every((one) => one.includes(` ${field}: `))
        addMember(fields, source, field!, isAlways ? '' : '?', type!)
      }
  return fields
}

// ---- python/sandbridge_kernel/frame_types.py

const PYTHON = `
import json, sys, typing
sys.path.insert(0, sys.argv[1])
from sandbridge_kernel import frame_types

def kind(type):
    origin, args = typing.get_origin(type), typing.get_args(type)
    if origin is typing.Literal:
        return "|".join(sorted(map(str, args))) if isinstance(args[0], str) else str(args[0]).lower()
    if origin is list:
        return "list of " + kind(args[0])
    if origin is dict or typing.is_typeddict(type):
        return "object"
    return {str: "string", int: "integer", float: "number", bool: "boolean", typing.Any: "any"}[type]

def fields(frame, prefix=""):
    found = {}
    for name, type in typing.get_type_hints(frame).items():
        if name == "type" and not prefix:
            continue
        found[prefix + name + ("" if name in frame.__required_keys__ else "?")] = kind(type)
        is_list = typing.get_origin(type) is list
        inner = typing.get_args(type)[0] if is_list else type
        if typing.is_typeddict(inner):
            found.update(fields(inner, prefix + name + ("[]." if is_list else ".")))
    return found

def frames(union):
    return {typing.get_args(typing.get_type_hints(one)["type"])[0]: fields(one) for one in typing.get_args(union)}

print(json.dumps({"kernel": frames(frame_types.KernelFrame), "bridge": frames(frame_types.BridgeFrame)}))
`

function ofPython(): { kernel: Frames; bridge: Frames } {
  const { status, stdout, stderr } = runPython(['-I', '-B', '-c', PYTHON, path.join(ROOT, 'python')])
  expect(stderr).toBe('')
  expect(status).toBe(0)
  return JSON.parse(stdout) as { kernel: Frames; bridge: Frames }
}

// ---- they agree

it('docs/protocol.md and the zod schemas agree on the frames that the kernel sends', () => {
  const { oneOf = [] } = z.toJSONSchema(kernelFrame) as { oneOf?: Schema[] }
  const schemas = oneOf.map((schema) => [schema.properties!['type']!.const, ofSchema(schema)])
  expect(Object.fromEntries(schemas)).toEqual(documented('Kernel to bridge'))
})

it('docs/protocol.md and the interfaces of src/cell/protocol/frames.ts agree on the frames that the bridge sends', () => {
  // The names of languages are a setting's.
  const source = read('src/cell/protocol/frames.ts') + read('src/config/settings/cells.ts')
  // TypeScript has one number type.
  const withNumbers = (fields: Fields) =>
    Object.fromEntries(Object.entries(fields).map(([field, type]) => [field, type === 'integer' ? 'number' : type]))
  const { run, reply, ...others } = documented('Bridge to kernel')
  expect(ofInterface(source, 'RunFrame')).toEqual(withNumbers(run!))
  expect(ofReply(source)).toEqual(withNumbers(reply!))
  expect(others).toEqual({})
})

it('docs/protocol.md and the types of the Python kernel agree on all frames', () => {
  const reason = whyNoPython()
  if (reason !== undefined) skip(reason)
  const { kernel, bridge } = ofPython()
  expect(kernel).toEqual(documented('Kernel to bridge'))
  expect(bridge).toEqual(documented('Bridge to kernel'))
})

it('docs/protocol.md lists the methods that the proxy serves, with their params', async () => {
  const entries = section('Methods').matchAll(/^- \*\*`(\w+)`\*\*:(.*(?:\n  .*)*)/gm)
  const methods = Object.fromEntries([...entries].map(([, name, text]) => [name!, paramsOf(text!)]))
  const unknown = await problemOf('?', {})
  const served = (unknown as { hint: string }).hint.replace('Methods: ', '').split(', ')
  expect(Object.keys(methods).toSorted()).toEqual(served.toSorted())
  for (const name of served) {
    const { asked, needed } = await askedParams(name)
    const listed = methods[name] ?? {}
    expect({ [name]: Object.keys(listed).toSorted() }).toEqual({ [name]: asked })
    for (const param of needed) expect(listed[param], `${name} needs ${param}`).toBe('required')
  }
})

/** The params of an entry: the names in the first sentence after `Params:`. Text in brackets explains one. */
function paramsOf(entry: string): Record<string, 'required' | 'optional'> {
  const bare = entry.replaceAll(/\s+/g, ' ').replaceAll(/\([^)]*\)/g, '')
  const sentence = /Params: (.*?)(?:\.(?: |$))/.exec(bare)?.[1] ?? ''
  const names = [...sentence.matchAll(/`(\w+)(\??)`/g)]
  return Object.fromEntries(names.map(([, name, optional]) => [name!, optional ? 'optional' : 'required']))
}

/** Which params a method reads, and which of them it requires: its schema parses an object that records accesses. */
async function askedParams(method: string): Promise<{ asked: string[]; needed: string[] }> {
  const asked = new Set<string>()
  const note = (key: string | symbol) => void (typeof key === 'string' && asked.add(key))
  const params = new Proxy({}, { get: (_, key) => note(key), has: (_, key) => (note(key), false) })
  const problem = await problemOf(method, params)
  const { code, message } = problem as { code?: string; message?: string }
  const needed = code === 'PROXY_ARGUMENTS_INVALID' ? [...(message ?? '').matchAll(/(?:^|; )(\w+): /g)] : []
  return { asked: [...asked].toSorted(), needed: needed.map((match) => match[1]!).filter((name) => asked.has(name)) }
}

/** What the methods of features are made of. */
const NO_BRIDGE = { settings: readSettings({}), log: SILENT, servers: {} } as unknown as Bridge

/** The error of a call without any context. */
async function problemOf(method: string, params: unknown): Promise<unknown> {
  try {
    const serve = serveCalls({} as CellContext, features.methods(NO_BRIDGE))
    return await serve({ method, params }, new Cancellation())
  } catch (error) {
    return error
  }
}
