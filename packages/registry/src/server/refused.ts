// What a server's description must not do, and the error for it. Pure.
import { BridgeError } from '@sandbridge/core/errors.ts'

/**
 * Variables that make a program load other code or contact another host. In any case: Windows and some programs ignore
 * it.
 */
export const STEERING =
  /^(PATH|HOME|LD_.*|DYLD_.*|NODE_OPTIONS|NODE_PATH|NODE_EXTRA_CA_CERTS|PYTHON(PATH|STARTUP|HOME)|BASH_ENV|ENV|(NPM_CONFIG|PIP|UV)_.*|.*_PROXY|DOCKER_.*|CONTAINER_HOST|SSL_CERT_.*)$/i

const HINT = 'Tell its publisher, or define the server yourself in a file in ~/MCPs.'

export function refused(reason: string, hint = HINT): BridgeError {
  return new BridgeError('SERVER_REFUSED', `This server cannot be added: ${reason}`, { hint })
}
