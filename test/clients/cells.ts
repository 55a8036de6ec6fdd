// The cells that every client runs, and what the client must receive for each.

/** An image of one pixel. Its base64 is not in the source of the cell that shows it. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

export const IMAGE = PNG.toString('base64')

export const CELLS = {
  text: 'print("hello " + "there")',
  image: [
    'class Picture:',
    `    def _repr_png_(self): return bytes.fromhex("${PNG.toString('hex')}")`,
    '    def __repr__(self): return "<a " + "picture>"',
    'Picture()',
  ].join('\n'),
  error: 'items = {}\nitems["mis" + "sing"]',
  /** Longer than the minute after which many clients cancel a request. */
  long: 'import asyncio\nawait asyncio.sleep(75)\n"slept " + "well"',
}

export const SHOWN = { text: 'hello there', image: '<a picture>', error: "KeyError: 'missing'", long: 'slept well' }
