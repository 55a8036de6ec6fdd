// This file verifies images on their way out of the sandbox: too large ones, those inside other values, and broken
// ones.
import { deflateSync } from 'node:zlib'
import { describe, expect } from 'vitest'
import { type Driver, GITHUB, startKernel, it } from './drive.ts'
import { skip } from '../support/suite/needs.ts'

/** A real black PNG with one bit per pixel; tiny however many pixels it has. */
function png(width: number, height: number): string {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 1
  const pixels = deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * height))
  const parts = [chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...parts]).toString('base64')
}

function chunk(kind: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(kind), data])
  const edges = Buffer.alloc(8)
  edges.writeUInt32BE(data.length, 0)
  edges.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([edges.subarray(0, 4), body, edges.subarray(4)])
}

function crc32(data: Buffer): number {
  let crc = ~0
  for (const byte of data) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return ~crc >>> 0
}

const sizeOf = (base64: unknown) => {
  const bytes = Buffer.from(String(base64), 'base64')
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
}

const image = (data: string, mimeType = 'image/png') => ({ type: 'image', data, mimeType })
const displays = (frames: Record<string, unknown>[]) =>
  frames.flatMap((frame) => (frame['type'] === 'display' ? [frame['data']] : []))
/** The Python value of a tool's result. */
const called = (kernel: Driver, value: unknown, code = 'await mcp_github.shot()') =>
  kernel.run(code, { servers: GITHUB, onCall: () => ({ value }) })
const shown = (base64: string) => `type('Shown', (), {'_repr_png_': lambda self: '${base64}'})()`

async function withPillow(): Promise<Driver> {
  const kernel = await startKernel()
  const { status } = await kernel.run('import PIL.Image')
  if (status !== 'ok') skip('this Python has no Pillow')
  return kernel
}

/** Without Pillow, even if this Python has it. */
async function withoutPillow(): Promise<Driver> {
  const kernel = await startKernel()
  await kernel.run('import sys\nsys.modules["PIL"] = None')
  return kernel
}

it('what is printed shows its images beside its text, and only there', async ({ kernel }) => {
  const code = `import sys
a = await mcp_github.shot()
print("one", a, end="!")
print([a, {"b": a}])
print(a, file=sys.stderr)
print(1, [2])
f"{a}"`
  const { frames, stdout } = await called(kernel, { content: [image(png(1, 1))] }, code)
  expect(displays(frames)).toEqual(Array.from({ length: 3 }, () => ({ 'image/png': png(1, 1) })))
  expect(stdout).toMatch(/^one <image\/png, \d+ bytes>!\[<image.*\n1 \[2\]\n$/)
})

const NOTE =
  'An image (image/png) is not shown: it has 20,000 × 20,000 pixels, at most 8,000 a side can be; make it smaller.'

it('a large image that cannot be made smaller is not sent, and a note says so once', async () => {
  const kernel = await withoutPillow()
  const huge = png(20_000, 20_000)
  const own = await kernel.run(`display(${shown(huge)})\n${shown(huge)}`)
  expect(own.notes).toEqual([NOTE])
  expect(Object.keys(own.value!)).toEqual(['text/plain'])
  const fromTool = await called(kernel, { content: [image(huge)] })
  expect(fromTool).toMatchObject({ status: 'ok', notes: [NOTE] })
  expect(Object.keys(fromTool.value!)).toEqual(['text/plain'])
  const inList = await called(kernel, { content: [{ type: 'text', text: 't' }, image(huge)] })
  expect(inList.notes).toEqual([NOTE])
  expect(displays(inList.frames)).toEqual([])
  expect((await kernel.run('1')).notes).toBeUndefined()
})

it('a large image within the limits of a model is sent unchanged where there is no Pillow', async () => {
  const kernel = await withoutPillow()
  const screenshot = png(1920, 4000)
  const outcome = await called(kernel, { content: [image(screenshot)] })
  expect(outcome.value!['image/png']).toBe(screenshot)
  expect(outcome.notes).toBeUndefined()
})

it('a large image is scaled with Pillow, and one that would take too much memory is not decoded', async () => {
  const kernel = await withPillow()
  const outcome = await kernel.run(shown(png(3000, 6000)))
  expect(sizeOf(outcome.value!['image/png'])).toEqual([784, 1568])
  const fromTool = await called(kernel, { content: [{ type: 'text', text: 't' }, image(png(2000, 1000))] })
  expect(displays(fromTool.frames).map((data) => sizeOf((data as Record<string, string>)['image/png']))).toEqual([
    [1568, 784],
  ])
  await kernel.run('import resource\nbefore = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss')
  const bomb = await kernel.run(shown(png(20_000, 20_000)))
  expect(bomb.notes).toEqual([NOTE])
  // 400 MB when decoded; in KiB.
  expect(await kernel.value('resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000')).toBe('True')
  const code = 'import io\njpeg = io.BytesIO()\nPIL.Image.new("RGB", (4000, 2000)).save(jpeg, "JPEG")\n'
  const jpeg = await kernel.run(`${code}type('J', (), {'_repr_jpeg_': lambda self: jpeg.getvalue()})()`)
  expect(sizeOf(jpeg.value!['image/png'])).toEqual([1568, 784])
  for (const mode of ['1', 'L', 'P', 'RGB', 'RGBA', 'LA', 'I;16', 'I', 'F', 'CMYK']) {
    const drawn = await kernel.run(`PIL.Image.new("${mode}", (3000, 2000))`)
    expect([mode, sizeOf(drawn.value!['image/png'])]).toEqual([mode, [1568, 1045]])
  }
})

it('a broken image leaves the plain repr, and never fails the cell', async ({ kernel }) => {
  for (const content of ['object()', '5', '["x"]', '{}', '1 / 0']) {
    const code = `type('Odd', (), {'_repr_png_': lambda self: ${content}, '__repr__': lambda self: 'odd'})()`
    expect(await kernel.run(code)).toMatchObject({ status: 'ok', value: { 'text/plain': 'odd' } })
    expect(Object.keys((await kernel.run(code)).value!)).toEqual(['text/plain'])
  }
  for (const content of ['"x"', '5', 'None', '[1]', '("x", {})', '1 / 0']) {
    const code = `type('Odd', (), {'_repr_mimebundle_': lambda self, **_: ${content}, '_repr_markdown_': lambda self: '**m**', '__repr__': lambda self: 'odd'})()`
    expect((await kernel.run(code)).value).toEqual({ 'text/plain': 'odd', 'text/markdown': '**m**' })
  }
})

it('a broken image of Pillow leaves the plain repr', async () => {
  const kernel = await withPillow()
  const empty = await kernel.run('PIL.Image.new("RGB", (0, 0))')
  expect(empty).toMatchObject({ status: 'ok', value: { 'text/plain': '<image, RGB, 0 × 0 pixels>' } })
  const code = `import io\nPIL.Image.open(io.BytesIO(__import__('base64').b64decode('${png(500, 500)}')[:80]))`
  expect((await kernel.run(code)).value).toEqual({ 'text/plain': '<image, 1, 500 × 500 pixels>' })
})

describe('images inside of a value', () => {
  const small = png(8, 8)

  it('images inside of a value are shown beside its text', async ({ kernel }) => {
    const result = { content: [{ type: 'text', text: 'a shot' }, image(small)] }
    const whole = await called(kernel, result)
    expect(displays(whole.frames)).toEqual([{ 'image/png': small }])
    expect(whole.value!['text/plain']).toMatch(/^\['a shot', <image\/png, \d+ bytes>\]$/)
    const displayed = await called(kernel, result, 'display({"shots": [await mcp_github.shot()]})')
    expect(displays(displayed.frames).slice(1)).toEqual([{ 'image/png': small }])
    const kept = await called(kernel, result, 'shot = await mcp_github.shot()')
    expect(displays(kept.frames)).toEqual([])
  })

  it('images inside of a value are sent beside structured content, too', async ({ kernel }) => {
    const result = { structuredContent: { title: 't' }, content: [image(small)] }
    const outcome = await called(kernel, result)
    expect(displays(outcome.frames)).toEqual([{ 'image/png': small }])
    expect(outcome.value!['text/plain']).toBe("{'title': 't'}")
    const parts = 'about = await mcp_github.shot()\nabout.title, about.media[0].mime_type'
    expect((await called(kernel, result, parts)).value).toEqual({ 'text/plain': "('t', 'image/png')" })
  })

  it('images inside of a value are limited in number, and sent also where the bridge cannot show them', async ({
    kernel,
  }) => {
    const content = [image('PHN2Zy8+', 'image/svg+xml'), image(small), { ...image('AAAA', 'audio/wav'), type: 'audio' }]
    expect(displays((await called(kernel, { content })).frames)).toEqual([
      { 'image/svg+xml': 'PHN2Zy8+' },
      { 'image/png': small },
      { 'audio/wav': 'AAAA' },
    ])
    const flood = await called(kernel, { content: Array.from({ length: 500 }, () => image(small)) })
    expect(displays(flood.frames).length).toBe(21)
  })
})

it('a list that holds itself, or many others, is shown as Python shows it', async ({ kernel }) => {
  expect(await kernel.value('a = []; a.append(a); a')).toBe('[[...]]')
  expect(await kernel.value('a = (); b = [a]; a = (b,); b.append(a); b')).toBe('[(), ([...],)]')
  expect(await kernel.value('d = {}; d["d"] = d; d')).toBe("{'d': {...}}")
  const deep = await kernel.run('a = []\nfor _ in range(400): a = [a]\nprint(repr(a))\na')
  expect(deep.value!['text/plain']).toBe(deep.stdout.trim())
  expect(await kernel.value("type('X', (), {'__module__': None, '__repr__': lambda self: 'x'})()")).toBe('x')
})
