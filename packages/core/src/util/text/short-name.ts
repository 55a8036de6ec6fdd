// Shortens what others choose, such as a name that an error would repeat. Pure.

const MAX_CHARS = 100

export function shortName(name: string): string {
  return name.length <= MAX_CHARS ? name : `${name.slice(0, MAX_CHARS)}…`
}

/** The text, or its start with its length. @param length of what the text stands for, if another */
export function shortened(text: string, maxChars: number, length = text.length): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}… (${length} characters)`
}
