// A path that the page can request, with its parameters.
import * as z from 'zod'
import { BridgeError } from '@sandbridge/core/errors.ts'

export interface Route {
  method: 'GET' | 'POST'
  answer: (params: unknown) => unknown
}

export type Routes = ReadonlyMap<string, Route>

export const nameParam = z.string().min(1).max(1_000)
export const codeParam = z.string().max(1_000_000)

export function get<T>(path: string, schema: z.ZodType<T>, answer: (params: T) => unknown): [string, Route] {
  return [path, { method: 'GET', answer: (params) => answer(parsed(schema, params)) }]
}

export function post<T>(path: string, schema: z.ZodType<T>, answer: (params: T) => unknown): [string, Route] {
  return [path, { method: 'POST', answer: (params) => answer(parsed(schema, params)) }]
}

function parsed<T>(schema: z.ZodType<T>, params: unknown): T {
  const { success, data } = schema.safeParse(params)
  if (success) return data
  throw new BridgeError('TOOL_ARGUMENTS_INVALID', 'The page sent an invalid request', { hint: 'Reload it.' })
}
