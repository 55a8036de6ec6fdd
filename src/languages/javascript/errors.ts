// The errors that a call can reject with. `error instanceof MCPError` is true for all of them; `name` tells which.

export interface ErrorReply {
  name: string
  code: string
  /** With the hint. */
  message: string
  hint?: string
  data?: { server?: string; tool?: string; content?: unknown } | null
}

export class MCPError extends Error {
  code = 'ERROR'
  hint = ''
  declare server?: string
  declare tool?: string
  declare content?: unknown
  declare data?: unknown

  constructor(message: string) {
    super(message)
    // Not shown among its fields.
    Object.defineProperty(this, 'name', { value: 'MCPError', writable: true, configurable: true })
  }
}

/** @param stack where the call was made */
export function errorFrom({ name, code, message, hint = '', data }: ErrorReply, stack = ''): MCPError {
  const error = new MCPError(message)
  error.name = name
  error.code = code
  error.hint = hint
  if (data) {
    error.data = data
    for (const key of ['server', 'tool', 'content'] as const) {
      if (data[key] !== undefined)
        Object.defineProperty(error, key, {
          value: data[key],
          configurable: true,
          writable: true,
          enumerable: key !== 'content',
        })
    }
    Object.defineProperty(error, 'data', { enumerable: false })
  }
  error.stack = [`${name}: ${message}`, ...stack.split('\n').slice(1)].join('\n')
  return error
}
