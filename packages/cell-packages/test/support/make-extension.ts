// The smallest possible compiled Python module for WebAssembly: it is empty. Written byte by byte, so that tests need
// no compiler. (WebAssembly core specification, binary format; tool-conventions, Dynamic Linking, section "dylink.0";
// Python's C API, PyModuleDef.)

const I32 = 0x7f
/** The size of a 32-bit PyModuleDef, and the offset of its m_name. */
const DEF_BYTES = 52
const NAME_OFFSET = 20

export function makeExtension(name: string): Buffer {
  // All zero except the reference count, followed by the name.
  const data = [1, ...Array.from({ length: DEF_BYTES - 1 }, () => 0), ...Buffer.from(`${name}\0`)]
  return Buffer.concat([
    Buffer.from([0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00]),
    // Memory for the data, aligned to 4 bytes; no space in the function table.
    section(0, string('dylink.0'), [1], sized([data.length, 2, 0, 0])),
    // Types: 0 is PyInit's, 1 PyModuleDef_Init's.
    section(1, [2], [0x60, 0, 1, I32], [0x60, 1, I32, 1, I32]),
    section(
      2,
      [3],
      [...string('env'), ...string('memory'), 0x02, 0, 0],
      [...string('env'), ...string('__memory_base'), 0x03, I32, 0],
      [...string('env'), ...string('PyModuleDef_Init'), 0x00, 1],
    ),
    section(3, [1, 0]),
    section(7, [1], string(`PyInit_${name}`), [0x00, 1]),
    // def->m_name = data + DEF_BYTES; return PyModuleDef_Init(data)
    section(10, [1], sized([0, 0x23, 0, 0x23, 0, 0x41, DEF_BYTES, 0x6a, 0x36, 2, NAME_OFFSET, 0x23, 0, 0x10, 0, 0x0b])),
    section(11, [1, 0, 0x23, 0, 0x0b], sized(data)),
  ])
}

function section(id: number, ...content: number[][]): Buffer {
  return Buffer.from([id, ...sized(content.flat())])
}

/** Lengths here are below 128: one byte of LEB128. */
function sized(content: number[]): number[] {
  return [content.length, ...content]
}

function string(text: string): number[] {
  return sized([...Buffer.from(text)])
}
