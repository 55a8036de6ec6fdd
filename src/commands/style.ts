// Colours for people: none in a pipe, and none where NO_COLOR or TERM=dumb says so (https://no-color.org).
import { styleText } from 'node:util'

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

interface Output {
  isTTY?: boolean
}

/** @param output where the text is to be written */
export function styled(style: Style, text: string, output: Output = process.stdout): string {
  return hasColour(output) && text !== '' ? styleText(style, text) : text
}

function hasColour({ isTTY }: Output): boolean {
  const { NO_COLOR: none, TERM: terminal } = process.env
  return isTTY === true && !none && terminal !== 'dumb'
}
