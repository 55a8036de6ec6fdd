// Errors that calls reject with. All are instances of MCPError; `name` tells them apart.

export interface ErrorReply {
  name: string
  code: string
  /** Includes the hint. */
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
    // Not enumerable, so that it is not printed with the fields.
    Object.defineProperty(this, 'name', { value: 'MCPError', writable: true, configurable: true })
  }
}

/** @param stack stack of the call */
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
