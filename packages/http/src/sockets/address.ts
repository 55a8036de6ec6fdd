// Parses the address that `--http` listens on. Pure.
import { BridgeError } from '@sandbridge/core/errors.ts'

export interface Address {
  host: string
  /** 0 means any free port. */
  port: number
}

/**
 * Parses `PORT`, `HOST:PORT` or `[IPV6]:PORT`. Without a host, only this machine can connect.
 * @throws BridgeError CONFIG_INVALID
 */
export function parseAddress(text: string): Address {
  const [, v6, name, digits] = /^(?:(?:\[([\da-f:.]+)\]|([\w.-]+)):)?(\d{1,5})$/i.exec(text) ?? []
  const port = Number(digits)
  if (digits === undefined || port > 65_535) {
    throw new BridgeError('CONFIG_INVALID', `--http ${JSON.stringify(text)} is not a valid address`, {
      hint: 'Pass a port, or a host and a port: 8080, 127.0.0.1:8080, [::1]:8080.',
    })
  }
  return { host: v6 ?? name ?? '127.0.0.1', port }
}
