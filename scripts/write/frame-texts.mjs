// What is written of the frames of packages/core/src/cell/protocol/frames.ts: their types for the kernel. Pure.
import { BRIDGE_FRAMES, KERNEL_FRAMES, NAMED_PARTS } from '../../packages/core/src/cell/protocol/frames.ts'

const FRAMES = { ...KERNEL_FRAMES, ...BRIDGE_FRAMES }

/** Returns packages/core/python/sandbridge_kernel/wire/frame_types.py. */
export function frameTypes() {
  const parts = Object.values(NAMED_PARTS).flatMap(({ inner }) =>
    inner ? [classOf(inner.className, inner.fields)] : [],
  )
  const aliases = Object.entries(NAMED_PARTS).filter(([, { inner }]) => !inner)
  const sides = [KERNEL_FRAMES, BRIDGE_FRAMES].map((frames) =>
    Object.entries(frames).map(([type, fields]) => [frameName(type), classOf(frameName(type), fields, type), fields]),
  )
  const objects = new Map(
    Object.values(FRAMES)
      .flatMap((fields) => Object.values(fields))
      .flatMap(({ inner }) => (inner ? [[inner.className, classOf(inner.className, inner.fields)]] : [])),
  )
  const unions = sides.map((frames, at) => {
    return `${['KernelFrame', 'BridgeFrame'][at]} = ${frames.map(([name]) => name).join(' | ')}`
  })
  return [
    '"""The frames as types, written by `npm run schema` from packages/core/src/cell/protocol/frames.ts. The kernel never imports it: only\n' +
      'type checkers read it."""\n\n' +
      'from typing import Any, Literal, TypedDict\n\nfrom typing_extensions import NotRequired\n\n' +
      aliases.map(([name, { python }]) => `${name} = ${python}`).join('\n'),
    ...objects.values(),
    ...parts,
    ...sides.flat().map(([, text]) => text),
    `${unions.join('\n')}\n`,
  ].join('\n\n\n')
}

const frameName = (type) => `${type[0].toUpperCase()}${type.slice(1)}Frame`

function classOf(name, fields, type) {
  const members = Object.entries(fields).map(([field, { python }]) =>
    field.endsWith('?') ? `${field.slice(0, -1)}: NotRequired[${python}]` : `${field}: ${python}`,
  )
  const lines = [...(type === undefined ? [] : [`type: Literal["${type}"]`]), ...members]
  return `class ${name}(TypedDict):\n${lines.map((line) => `    ${line}`).join('\n')}`
}
