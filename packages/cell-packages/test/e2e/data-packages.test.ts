// @module-tag whole: it installs pandas
// This file runs the examples of README.md and docs/data.md with pandas, matplotlib and scikit-learn of the package
// index, over the published servers that the page names.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { published, ROOT, type ServerEntry } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { makeProvider, whyNot } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { skip, WHY_NOT_NOW, whyNoIndex } from '@sandbridge/core/test/support/suite/needs.ts'
import { openObserved, type ObservedBridge } from '@sandbridge/core/test/support/bridges/observed-bridge.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const CHART = path.join(ROOT, 'docs/data/sales.png')
/** From 0 to 255. Another version of matplotlib places some text elsewhere. */
const LARGEST_DIFFERENCE = 25
const PYTHON_SERVERS = {
  sqlite: { packages: ['mcp<2', 'mcp-server-sqlite==2025.4.25'], start: 'from mcp_server_sqlite import main; main()' },
  duckdb: { packages: ['mcp-server-motherduck==1.1.0'], start: 'from mcp_server_motherduck import main; main()' },
}

/** The Python blocks of a page that a test runs. */
function examplesOf(page: string): string[] {
  const text = readFileSync(path.join(ROOT, page), 'utf8')
  return Array.from(text.matchAll(/^```python no-run: a test runs it [^\n]*\n([^]*?)^```$/gm), ([, code]) => code!)
}

const folder = newFolder()
const files = path.join(folder, 'files')
const ends: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const end of ends) await end()
})

/** A published server, installed without running anything, started as uvx does. */
function pythonServer(name: keyof typeof PYTHON_SERVERS, ...args: string[]): ServerEntry {
  const { packages, start } = PYTHON_SERVERS[name]
  const target = path.join(folder, name)
  const pip = ['-m', 'pip', 'install', '--quiet', '--only-binary', ':all:', '--target', target, ...packages]
  const { status, stderr } = spawnSync('python3', pip, { cwd: '/', encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return { command: 'python3', args: ['-c', start, ...args], env: { PYTHONPATH: target } }
}

const SALES = [
  [17, 9, 6],
  [24, 16, 11],
  [31, 19, 14],
  [38, 24, 21],
].flatMap((totals, month) =>
  ['North', 'South', 'West'].map((region, index) => `('2026-0${month + 1}', '${region}', ${totals[index]})`),
)
/** A price is 20 for each room and 3 for each m². */
const HOMES = [
  ['city', 'rooms', 'area', 'price'],
  ...Array.from({ length: 60 }, (_, index) => {
    const [rooms, area] = [1 + (index % 5), 30 + ((index * 7) % 90)]
    return [['Oslo', 'Rome', 'Bern'][index % 3], rooms, area, 20 * rooms + 3 * area]
  }),
]

describe('with packages of the index', () => {
  let reason: string | undefined
  let bridge: ObservedBridge

  beforeAll(async () => {
    reason = WHY_NOT_NOW ?? (await whyNot(makeProvider('bubblewrap'))) ?? whyNoIndex()
    if (reason !== undefined) return
    // The sandboxes of root run as another user.
    chmodSync(folder, 0o755)
    mkdirSync(files)
    writeFileSync(path.join(files, 'homes.csv'), HOMES.map((row) => row.join(',')).join('\n'))
    const servers = {
      sqlite: pythonServer('sqlite', '--db-path', path.join(folder, 'sales.db')),
      duckdb: pythonServer('duckdb', '--db-path', ':memory:', '--read-write'),
      files: published.filesystem(files),
    }
    const env = {
      MCP_BRIDGE_RUNTIME: 'bubblewrap',
      MCP_BRIDGE_CACHE_DIR: path.join(folder, 'cache'),
      MCP_BRIDGE_PACKAGES: 'pandas matplotlib scikit-learn altair vl-convert-python plotly',
      MCP_BRIDGE_TIMEOUT: '120',
    }
    bridge = await openObserved({ servers, env }, (end) => ends.push(end))
    // Installs them, which may take longer than a client waits for a cell.
    await (await bridge.bridge.findProvider()).provider.prepare()
    await run(`await mcp_sqlite.create_table(query="CREATE TABLE sales (month TEXT, region TEXT, total INTEGER)")
await mcp_sqlite.write_query(query="INSERT INTO sales VALUES ${SALES.join(', ')}")`)
  }, 600_000)

  /** What a cell shows. The page names folders of its reader. */
  async function run(code: string): Promise<{ text: string; images: string[] }> {
    const { content, isError } = await bridge.run(code.replaceAll('/home/me/data', files))
    const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
    expect(isError ?? false, text).toBe(false)
    return { text, images: content.flatMap((block) => (block.type === 'image' ? [block.data] : [])) }
  }

  /** How far an image is from the chart in README.md: the mean over all channels of all pixels. */
  async function difference(image: string): Promise<number> {
    const { text } = await run(`import base64, io, numpy
from PIL import Image
shown, kept = [Image.open(io.BytesIO(base64.b64decode(image))).convert("RGB") for image in
    ("${image}", "${readFileSync(CHART).toString('base64')}")]
pixels = [numpy.asarray(image.resize(kept.size), dtype=float) for image in (shown, kept)]
float(numpy.sqrt(((pixels[0] - pixels[1]) ** 2).mean()))`)
    return Number(text)
  }

  const example = (title: string, check: () => Promise<void>) =>
    it(title, async () => {
      if (reason !== undefined) skip(reason)
      await check()
    })

  example('the chart in README.md is the one that the code beside it draws', async () => {
    const [code] = examplesOf('README.md')
    const { images, text } = await run(code!)
    // matplotlib runs fc-list, which complains in a system without its configuration.
    expect(text).toBe('')
    expect(images).toHaveLength(1)
    if (process.env['SANDBRIDGE_WRITE_CHART']) writeFileSync(CHART, Buffer.from(images[0]!, 'base64'))
    expect(await difference(images[0]!)).toBeLessThan(LARGEST_DIFFERENCE)
    // The control: the same chart of other numbers.
    const others = await run(code!.replace('sum(total)', 'max(20, sum(total))'))
    expect(await difference(others.images[0]!)).toBeGreaterThan(LARGEST_DIFFERENCE)
  })

  example('the examples of docs/data.md show a table, a chart and a model', async () => {
    const [sqlite, duckdb, filesystem, ...rest] = examplesOf('docs/data.md')
    expect(rest).toEqual([])
    expect((await run(sqlite!)).text).toMatch(/North +17 +24 +31 +38 +110/)
    expect((await run(duckdb!)).images).toHaveLength(1)
    expect((await run('list(prices.price.round())')).text).toMatch(/^\[\d+\.0, \d+\.0, \d+\.0\]/)
    expect((await run(filesystem!)).text).toMatch(/'rooms': .*20\.0.*'area': .*3\.0.*'score': 1\.0/)
  })

  // The exporter of Altair has a JavaScript engine, which a sandbox's limits end. The session goes on.
  example('charts of Altair and Plotly are artifacts where their exporters do not run', async () => {
    const frame = 'import pandas as pd\nframe = pd.DataFrame({"x": [1, 2, 3], "y": [4, 1, 7]})\n'
    const altair = await run(`${frame}import altair\naltair.Chart(frame).mark_bar().encode(x="x", y="y").show()`)
    expect(altair.text).toContain('the artifact chart-1.html')
    const plotly = await run('import plotly.express\nplotly.express.line(frame, x="x", y="y").show()')
    expect(plotly.text).toContain('the artifact chart-2.html')
    const saved = await run(
      'page = runtime.open_artifact("chart-2.html").text()\n"<script" in page, len(page) < 100_000',
    )
    expect(saved.text).toBe('(True, True)')
    const app = await run(
      'try: runtime.show_app(altair.Chart(frame).mark_bar())\nexcept runtime.ArgumentsError as error: print(error)',
    )
    expect(app.text).toMatch(/does not run in this sandbox. Show a chart of Plotly/)
    expect((await run('len(frame)')).text).toBe('3')
  })
})
