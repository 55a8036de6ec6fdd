// Checks whether a JSON value is a frame that a kernel may send: the table of its type says what it consists of. Pure.
import { isRecord } from '../../util/json/json.ts'
import { Malformed, readerOf } from './field-kinds.ts'
import { KERNEL_FRAMES, type KernelFrame } from './frames.ts'

const READERS = new Map(Object.entries(KERNEL_FRAMES).map(([type, fields]) => [type, readerOf(fields)]))

/** Returns the frame with its known fields. @throws Malformed with the reason why it is invalid */
export function checkFrame(json: unknown): KernelFrame {
  if (!isRecord(json)) throw new Malformed('not an object')
  const read = READERS.get(json['type'] as string)
  if (!read) throw new Malformed('type: not one that a kernel sends')
  return read(json, { type: json['type'] }) as KernelFrame
}
