// An image as the bytes that make a terminal show it: kitty's and iTerm's own protocols where one is known to be there, sixels where the terminal
// says that it shows them.
import { showsSixels } from './terminal-attributes.ts'

/** The most that one escape sequence of kitty's protocol may carry. */
const KITTY_CHUNK = 4096

type Environment = Record<string, string | undefined>

/**
 * Undefined where the terminal shows no images, or not of this format. `data` is valid base64.
 * @param hasSixels asks the terminal
 */
export async function inlineImage(
  { data, mimeType }: { data: string; mimeType: string },
  env: Environment,
  hasSixels = showsSixels,
): Promise<string | undefined> {
  // Inside of tmux and screen the sequences would need another wrapping, and the settings to let them through.
  if (env['TMUX'] || env['STY']) return undefined
  if (isKitty(env)) return mimeType === 'image/png' ? kitty(data) : undefined
  if (isIterm(env)) return `\x1b]1337;File=inline=1;size=${Buffer.byteLength(data, 'base64')}:${data}\x07\n`
  if (mimeType !== 'image/png' || !(await hasSixels())) return undefined
  const { sixelImage } = await import('./sixel-image.ts')
  return sixelImage(data)
}

function isKitty(env: Environment): boolean {
  return env['KITTY_WINDOW_ID'] !== undefined || env['TERM'] === 'xterm-kitty' || env['TERM_PROGRAM'] === 'ghostty'
}

function isIterm(env: Environment): boolean {
  return env['LC_TERMINAL'] === 'iTerm2' || ['iTerm.app', 'WezTerm'].includes(env['TERM_PROGRAM'] ?? '')
}

function kitty(data: string): string {
  const chunks = data.match(new RegExp(`.{1,${KITTY_CHUNK}}`, 'g')) ?? []
  const sequences = chunks.map((chunk, index) => {
    const more = index < chunks.length - 1 ? 1 : 0
    return `\x1b_G${index === 0 ? 'a=T,f=100,' : ''}m=${more};${chunk}\x1b\\`
  })
  return `${sequences.join('')}\n`
}
