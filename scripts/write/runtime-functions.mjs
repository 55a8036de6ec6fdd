// The functions of `mcp.runtime` that only call a method of the bridge, in Python. Pure.

const WIDTH = 120
const TYPES = { string: 'str', integer: 'int', number: 'float', boolean: 'bool', object: 'dict[str, Any]' }

/** Returns python/sandbridge_kernel/api/bridge_functions.py. */
export function runtimeFunctions(methods) {
  const described = Object.entries(methods).flatMap(([method, { inRuntime }]) =>
    inRuntime ? [{ name: method, ...inRuntime, method }] : [],
  )
  described.sort((a, b) => (a.name < b.name ? -1 : 1))
  const functions = described.map(functionOf)
  const uses = (word) => functions.some((text) => new RegExp(`\\b${word}\\b`).test(text))
  const typing = ['Any', 'Literal'].filter(uses)
  return [
    '"""Functions of `mcp.runtime` that only call a method of the bridge, written by `npm run schema` from the methods in\n' +
      'packages/core/src/calls/ that have `inRuntime`."""\n\n' +
      (typing.length > 0 ? `from typing import ${typing.join(', ')}\n\n` : '') +
      (uses('Record') ? 'from ..data.values import Record\n' : '') +
      'from . import bridge\n\n' +
      `__all__ = [${described.map(({ name }) => `"${name}"`).join(', ')}]`,
    ...functions,
  ]
    .join('\n\n\n')
    .concat('\n')
}

function functionOf({ name, method, doc, returns, params }) {
  const { properties = {}, required = [] } = params.toJSONSchema({ io: 'input', unrepresentable: 'any' })
  const names = Object.keys(properties)
  const given = names.map((param) => {
    const type = typeOf(properties[param])
    return required.includes(param) ? `${param}: ${type}` : `${param}: ${type} | None = None`
  })
  const call = `bridge.ask_sync(${[`"${method}"`, ...names.map((param) => `${param}=${param}`)].join(', ')})`
  const body = returns === 'None' ? [call] : [`found: ${returns} = ${call}`, 'return found']
  const head = `def ${name}(${given.join(', ')}) -> ${returns}:`
  const wrapped = head.length > WIDTH ? `def ${name}(\n    ${given.join(', ')}\n) -> ${returns}:` : head
  return [wrapped, ...[`"""${doc}"""`, ...body].map((line) => `    ${line}`)].join('\n')
}

function typeOf({ type, enum: values, items, anyOf }) {
  if (values) return `Literal[${values.map((value) => JSON.stringify(value)).join(', ')}]`
  if (anyOf) return [...new Set(anyOf.filter((one) => one.type !== 'null').map(typeOf))].join(' | ')
  return type === 'array' ? `list[${typeOf(items ?? {})}]` : (TYPES[type] ?? 'Any')
}
