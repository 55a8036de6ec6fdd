// The byte order mark in UTF-8, with which programs on Windows begin their output. It is no part of JSON. Pure.
const BOM = Buffer.from('\u{FEFF}')

export function withoutBom(bytes: Buffer): Buffer {
  return bytes.subarray(0, BOM.length).equals(BOM) ? bytes.subarray(BOM.length) : bytes
}
