// JavaScript that makes V8 compile WebAssembly to more than 150 MB of machine code.
const FUNCTIONS = 30
// Node 20 counts 40 MB for each, and later versions about 10.
const MODULES = process.versions.node.startsWith('20.') ? 5 : 15
const number = (n) => (n < 128 ? [n] : [(n & 127) | 128, ...number(n >>> 7)])
const each = (make) =>
  Buffer.from([...number(FUNCTIONS), ...Array.from({ length: FUNCTIONS }, (_, i) => make(i)).flat()])
const section = (id, ...parts) => {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([id, ...number(body.length)]), body])
}
const kept = []
for (let factor = 1; factor <= MODULES; factor += 1) {
  // x = x / x, many times: a division has the longest machine code for its length, with its checks. Every module begins
  // with another number, because V8 shares the code of equal ones.
  const steps = Buffer.alloc(210_000, Buffer.from([0x20, 0, 0x20, 0, 0x6d, 0x21, 0]))
  const body = Buffer.concat([Buffer.from([0, 0x41, factor, 0x21, 0]), steps, Buffer.from([0x0b])])
  const bodies = Array.from({ length: FUNCTIONS }, () => [Buffer.from(number(body.length)), body]).flat()
  const module = new WebAssembly.Module(
    Buffer.concat([
      Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]),
      section(1, Buffer.from([1, 0x60, 1, 0x7f, 0])),
      section(
        3,
        each(() => [0]),
      ),
      section(
        7,
        each((index) => [1, 65 + index, 0, index]),
      ),
      section(10, Buffer.from(number(FUNCTIONS)), ...bodies),
    ]),
  )
  const { exports } = new WebAssembly.Instance(module)
  kept.push(exports)
  // A function is compiled when it is first called.
  for (const run of Object.values(exports)) run(1)
}
process.stdout.write('ESCAPED\n')
