// An image as sixels (xterm, foot, mlterm, Windows Terminal). Loaded when a terminal says that it has them.
import { PNG } from 'pngjs'
import { image2sixel } from 'sixel'

/** A larger image would keep the terminal busy for seconds. */
const MAX_PIXELS = 4_000_000
const COLOURS = 256
/** Offsets in a PNG of its size and of its interlace flag: interlaced rows are unpacked without a limit. */
const WIDTH_AT = 16
const HEIGHT_AT = 20
const INTERLACED_AT = 28

/** @param data of a PNG, base64 @returns undefined for other data or an image that is too large */
export function sixelImage(data: string): string | undefined {
  const bytes = Buffer.from(data, 'base64')
  if (bytes.length <= INTERLACED_AT || bytes[INTERLACED_AT] !== 0) return undefined
  if (bytes.readUInt32BE(WIDTH_AT) * bytes.readUInt32BE(HEIGHT_AT) > MAX_PIXELS) return undefined
  try {
    const image = PNG.sync.read(bytes)
    return `${image2sixel(onWhite(image.data), image.width, image.height, COLOURS)}\n`
  } catch {
    return undefined
  }
}

/**
 * Charts are drawn for a white background, so transparent pixels become white. Not a Buffer, because the encoder
 * expects slices to be copies.
 */
function onWhite(pixels: Uint8Array): Uint8Array {
  const drawn = new Uint8Array(pixels.length)
  for (let at = 0; at < pixels.length; at += 4) {
    const opacity = pixels[at + 3]! / 255
    for (let channel = at; channel < at + 3; channel += 1) {
      drawn[channel] = Math.round(pixels[channel]! * opacity + 255 * (1 - opacity))
    }
    drawn[at + 3] = 255
  }
  return drawn
}
