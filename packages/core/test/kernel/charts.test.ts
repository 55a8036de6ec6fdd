// This file verifies how charts of Altair and Plotly are shown: as an image if their exporter is there, else as a web
// page in an artifact. The libraries are imitated; packages/cell-packages/test/e2e/data-packages.test.ts has the real
// ones.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { type Call, type Driver, startKernel } from './drive.ts'
import { newFolder } from '../support/machine/new-folder.ts'

/** What the kernel uses of both libraries. Like the real ones, they cannot show a chart by themselves. */
const LIBRARIES = {
  'altair.py': `
class TopLevelMixin:
    def __init__(self, mark): self.mark = mark
    def to_dict(self):
        if self.mark not in ('bar', 'die'): raise ValueError(f'{self.mark} is no mark')
    def to_html(self, inline=False, embed_options=None):
        if not inline: return '<p>altair</p>'
        if self.mark == 'die': __import__('os').abort()
        return f'<p>whole altair {embed_options}</p>'
    @classmethod
    def from_json(cls, text): return cls(text)
    def to_json(self): return self.mark
    def show(self): import IPython
class Chart(TopLevelMixin): pass
`,
  'plotly/basedatatypes.py': `
class BaseFigure:
    def to_html(self, include_plotlyjs): return f'<p>plotly from {include_plotlyjs}</p>'
    def to_image(self, format, scale): raise RuntimeError('no browser')
    def show(self, renderer=None): pass
`,
}
/** A chart with the mark `die` ends its process, as a JavaScript engine without memory does. */
const VL_CONVERT = {
  'vl_convert.py': `
import os
def vegalite_to_png(spec, scale):
    if spec == 'die': os.abort()
    return f'png of {spec}'.encode()
`,
}
const ALTAIR = 'import altair\n'
const PLOTLY = 'from plotly.basedatatypes import BaseFigure\n'

async function start(exporters: Record<string, string> = {}): Promise<Driver> {
  const kernel = await startKernel()
  const folder = newFolder()
  const files = { ...LIBRARIES, ...exporters }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    writeFileSync(path.join(folder, name), text)
  }
  await kernel.run(`import sys\nsys.path.insert(0, ${JSON.stringify(folder)})`)
  return kernel
}

/** Keeps what a cell saves: name → text. */
function keeper() {
  const saved = new Map<string, string>()
  let data = ''
  const onCall = ({ method, params }: Call) => {
    if (method === 'upload') {
      data = Buffer.from(String(params['data']), 'base64').toString()
      return { value: 'u' }
    }
    saved.set(String(params['name']), data)
    return { value: { name: params['name'] } }
  }
  return { saved, onCall }
}

const shown = (frames: Record<string, unknown>[]) =>
  frames.filter(({ type }) => type === 'display').map(({ data }) => data as Record<string, string>)

it('a chart without an exporter is saved as a web page, and its text names the artifact', async () => {
  const kernel = await start()
  const { saved, onCall } = keeper()
  const altair = await kernel.run(`${ALTAIR}altair.Chart('bar')`, { onCall })
  expect(altair.value).toEqual({ 'text/plain': expect.stringMatching(/saved for the user .* chart-1\.html/) })
  await kernel.run(`${PLOTLY}display(BaseFigure())`, { onCall })
  expect(Object.fromEntries(saved)).toEqual({
    'chart-1.html': '<p>altair</p>',
    'chart-2.html': '<p>plotly from cdn</p>',
  })
})

it('a chart is shown by its own show()', async () => {
  const kernel = await start()
  const { saved, onCall } = keeper()
  const { frames, value } = await kernel.run(`${ALTAIR}${PLOTLY}altair.Chart('bar').show()\nBaseFigure().show('png')`, {
    onCall,
  })
  expect([shown(frames).length, value, [...saved.keys()]]).toEqual([2, undefined, ['chart-1.html', 'chart-2.html']])
})

it('a chart with an exporter is an image; with one that fails it is a web page', async () => {
  const kernel = await start({ ...VL_CONVERT, 'kaleido.py': '' })
  const { saved, onCall } = keeper()
  const { value } = await kernel.run(`${ALTAIR}altair.Chart('bar')`, { onCall })
  expect(value).toEqual({ 'text/plain': '', 'image/png': Buffer.from('png of bar').toString('base64') })
  expect(saved.size).toBe(0)
  const dead = await kernel.run(`${ALTAIR}altair.Chart('die')`, { onCall })
  expect(dead.value).toMatchObject({ 'text/plain': expect.stringContaining('chart-1.html') })
  const failed = await kernel.run(`${PLOTLY}BaseFigure()`, { onCall })
  expect(failed.value).toMatchObject({ 'text/plain': expect.stringContaining('chart-2.html') })
})

it('a chart that its library refuses fails the cell with the reason', async () => {
  const kernel = await start(VL_CONVERT)
  const { error } = await kernel.run(`${ALTAIR}altair.Chart('cube')`)
  expect(error).toMatchObject({ name: 'ValueError', message: 'cube is no mark' })
})

it('a chart that cannot be saved says why, and the cell goes on', async () => {
  const kernel = await start()
  const onCall = () => ({ error: { code: 'STATE_REFUSED', message: 'the limit of an artifact is 2 MiB' } })
  const { status, value } = await kernel.run(`${PLOTLY}BaseFigure()`, { onCall })
  expect([status, value]).toEqual(['ok', { 'text/plain': expect.stringMatching(/limit of an artifact is 2 MiB/) }])
})

it('a chart is shown as an app with its library inside, so that it needs no network', async () => {
  const kernel = await start()
  const { saved, onCall } = keeper()
  await kernel.run(`${ALTAIR}runtime.show_app(altair.Chart('bar'))`, { onCall })
  await kernel.run(`${PLOTLY}runtime.show_app(BaseFigure(), name='sales.html')`, { onCall })
  expect(Object.fromEntries(saved)).toEqual({
    'app-1.html': "<p>whole altair {'ast': True}</p>",
    'sales.html': '<p>plotly from True</p>',
  })
  const dead = await kernel.run(`runtime.show_app(altair.Chart('die'))`, { onCall })
  expect(dead.error).toMatchObject({ message: expect.stringContaining('does not run in this sandbox') as string })
  for (const wrong of ['runtime.show_app(7)', "runtime.show_app('<p>', name='a.txt')", "runtime.show_app('<p>', {1j})"])
    expect((await kernel.run(wrong, { onCall })).error).toMatchObject({
      name: expect.stringContaining('Error') as string,
    })
  expect(saved.size).toBe(2)
})
