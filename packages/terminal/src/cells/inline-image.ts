// Encodes an image for a terminal: in kitty's or iTerm's own protocol where that terminal is recognised, otherwise as
// sixels where the terminal says that it supports them.

/** Maximum payload of one escape sequence of kitty's protocol. */
const KITTY_CHUNK = 4096

type Environment = Record<string, string | undefined>

/**
 * Undefined when the terminal cannot show images, or not of this format. `data` is valid base64.
 * @param hasSixels asks the terminal
 */
export async function inlineImage(
  { data, mimeType }: { data: string; mimeType: string },
  env: Environment,
  hasSixels: () => Promise<boolean>,
): Promise<string | undefined> {
  // Inside tmux and screen, the sequences would need another wrapping, and a setting that lets them through.
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
