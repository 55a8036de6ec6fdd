// Any character, for random texts. The unit `binary` of fast-check would first make a map of all characters, which
// takes a second in each worker.
import fc from 'fast-check'

const SURROGATES = 0x800

export const anyCharacter = fc
  .integer({ min: 0, max: 0x10_ff_ff - SURROGATES })
  .map((at) => String.fromCodePoint(at < 0xd8_00 ? at : at + SURROGATES))
