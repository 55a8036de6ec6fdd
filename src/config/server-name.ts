// What a server may be called in a config file. Pure.

const MAX_CHARS = 128

export const BAD_NAME = 'has a name that is blank, longer than 128 characters, or has control characters'

export function isServerName(name: string): boolean {
  return name.trim() !== '' && name === shownName(name)
}

/** A name that fits on one line of a list, whatever was written. */
export function shownName(name: string): string {
  return name.slice(0, MAX_CHARS).replaceAll(/\p{Cc}/gu, '\uFFFD')
}
