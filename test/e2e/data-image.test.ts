// @module-tag whole: it builds an image
// This file verifies what a client gets from the image with data libraries: a figure as an image, a grouped table as
// text.
import { describe, expect, it } from 'vitest'
import { DATA_IMAGE, providerOrSkip, runtimeEnv } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'

describe.each(['podman', 'docker', 'bubblewrap-image'] as const)('the data image with %s', (engine) => {
  it(`the data image draws and groups with ${engine}`, { timeout: 300_000 }, async () => {
    await providerOrSkip(engine, DATA_IMAGE)
    const bridge = await startBridge({ env: runtimeEnv(engine, DATA_IMAGE) })
    const drawn = await bridge.call({ code: 'import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.show()' })
    expect(drawn.isError, drawn.text).toBe(false)
    const [picture] = drawn.content.filter(({ type }) => type === 'image')
    expect(picture).toMatchObject({ mimeType: 'image/png' })
    expect(Buffer.from(String(picture!['data']), 'base64').subarray(1, 4).toString()).toBe('PNG')

    const last = await bridge.call({ code: 'figure, axes = plt.subplots()\naxes.plot([1, 4, 9])\nfigure' })
    expect(last.content.map(({ type }) => type)).toEqual(['image'])

    const code =
      'import io, PIL.Image\npng = io.BytesIO()\nPIL.Image.new("1", (5000, 2500)).save(png, "PNG")\n' +
      'type("Scan", (), {"_repr_png_": lambda self: png.getvalue()})()'
    const [scan] = (await bridge.call({ code })).content.filter(({ type }) => type === 'image')
    // The width, at its position in every PNG.
    expect(Buffer.from(String(scan!['data']), 'base64').readUInt32BE(16)).toBe(1568)

    const frame = "pd.DataFrame({'city': ['Oslo', 'Rome', 'Oslo'], 'sold': [1, 2, 3]})"
    const grouped = await bridge.run(`import pandas as pd\n${frame}.groupby('city').sold.agg(['sum', 'count'])`)
    expect(grouped).toMatch(/Oslo\W+4\W+2/)
    expect(grouped).toMatch(/Rome\W+2\W+1/)
  })
})
