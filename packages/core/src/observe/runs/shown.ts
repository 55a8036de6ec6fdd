// A value that a cell shows, in the richest form that a page can safely draw: an image, otherwise text. Pure.
import { shortened } from '../../util/text/server-words.ts'

export interface Shown {
  text?: string | undefined
  /** An image in base64, of a type that browsers can draw and that contains no script. */
  image?: { type: string; data: string } | undefined
}

const TEXT_CHARS = 32 * 1024
const IMAGE_CHARS = 3 * 1024 * 1024
const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/** @param bundle a value by media type */
export function shownOf(bundle: Readonly<Record<string, unknown>>): Shown {
  const type = IMAGES.find((one) => typeof bundle[one] === 'string' && bundle[one].length <= IMAGE_CHARS)
  const plain = bundle['text/plain'] ?? Object.values(bundle).find((content) => typeof content === 'string')
  return {
    ...(typeof plain === 'string' && { text: shortened(plain, TEXT_CHARS) }),
    ...(type !== undefined && { image: { type, data: bundle[type] as string } }),
  }
}

export const shownSize = ({ text = '', image }: Shown): number => text.length + (image?.data.length ?? 0)
