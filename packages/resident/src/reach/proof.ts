// How a relay and a resident on Windows prove to each other that they run as the same user: both know a secret from a
// file that only this user can read. Windows lets any user open a named pipe, and take a name that is free. Neither
// side sends anything else before, and each nonce is new, so that a recorded proof is worth nothing.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Socket } from 'node:net'

export const PROOF_BYTES = 32
const PROOF_MS = 5_000

type Role = 'relay' | 'resident'

/**
 * Sends a nonce first. A socket whose other side does not prove itself in time is destroyed.
 * @param onProved listens to the socket: what follows the proof is read after it
 */
export function proveAsRelay(socket: Socket, secret: Buffer, onProved: () => void): void {
  const steps = beginProof(socket)
  const asked = randomBytes(PROOF_BYTES)
  socket.write(asked)
  steps.take(2 * PROOF_BYTES, (said) => {
    const nonces = Buffer.concat([asked, said.subarray(0, PROOF_BYTES)])
    if (!isProof(said.subarray(PROOF_BYTES), secret, 'resident', nonces)) return socket.destroy()
    socket.write(proofOf(secret, 'relay', nonces))
    return steps.end(onProved)
  })
}

/** Waits for the nonce of a relay. Otherwise as `proveAsRelay`. */
export function proveAsResident(socket: Socket, secret: Buffer, onProved: () => void): void {
  const steps = beginProof(socket)
  steps.take(PROOF_BYTES, (asked, isAll) => {
    const own = randomBytes(PROOF_BYTES)
    const nonces = Buffer.concat([asked, own])
    // A relay waits for this proof.
    if (!isAll) return socket.destroy()
    socket.write(Buffer.concat([own, proofOf(secret, 'resident', nonces)]))
    return steps.take(PROOF_BYTES, (said) =>
      isProof(said, secret, 'relay', nonces) ? steps.end(onProved) : socket.destroy(),
    )
  })
}

/** The role keeps one side's proof from being sent back as the other's. */
function proofOf(secret: Buffer, role: Role, nonces: Buffer): Buffer {
  return createHmac('sha256', secret).update(`sandbridge ${role}\0`).update(nonces).digest()
}

function isProof(said: Buffer, secret: Buffer, role: Role, nonces: Buffer): boolean {
  return timingSafeEqual(said, proofOf(secret, role, nonces))
}

/** Reads parts of a known length, within one time limit for all of them. */
function beginProof(socket: Socket): {
  /** @param onTaken is told whether nothing followed; what did is read next */
  take: (bytes: number, onTaken: (said: Buffer, isAll: boolean) => unknown) => void
  end: (onProved: () => void) => void
} {
  const giveUp = (): void => void socket.destroy()
  const late = setTimeout(giveUp, PROOF_MS)
  socket.once('end', giveUp)
  socket.once('close', () => clearTimeout(late))
  return {
    take: (bytes, onTaken) => {
      let said = Buffer.alloc(0)
      const onData = (chunk: Buffer): void => {
        said = Buffer.concat([said, chunk])
        if (said.length < bytes) return
        socket.off('data', onData).pause()
        if (said.length > bytes) socket.unshift(said.subarray(bytes))
        onTaken(said.subarray(0, bytes), said.length === bytes)
      }
      socket.on('data', onData).resume()
    },
    end: (onProved) => {
      clearTimeout(late)
      socket.off('end', giveUp)
      onProved()
      socket.resume()
    },
  }
}
