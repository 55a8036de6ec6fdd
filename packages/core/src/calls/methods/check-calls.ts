// Checks the calls in a cell's source before any of it runs: from known tools, and by asking the user.
import * as z from 'zod'
import { bindArguments, UNKNOWN } from '../catalog/arguments/bind.ts'
import { withoutRaw } from '../catalog/arguments/seen-call.ts'
import type { CatalogTool } from '../catalog/model/catalog-tool.ts'
import { boundedList, boundedRecord } from '../../util/json/bounded-schema.ts'
import { didYouMeanText } from '../../util/text/did-you-mean.ts'
import { isRecord } from '../../util/json/json.ts'
import { BridgeError } from '../../errors.ts'
import { method } from './method.ts'
import { orUndefined } from '../../util/or-undefined.ts'

const MAX_CALLS = 1000
const MAX_PROBLEMS = 20
/** Per call. A person or a model does not write more. */
const MAX_ARGUMENTS = 100

const name = z.string().max(1_000)
/** An argument: `{value}` for a literal, `{}` for any other expression. */
const argument = z
  .object({ value: z.unknown().optional() })
  .transform((seen) => ('value' in seen ? seen.value : UNKNOWN))

const seenCall = z.object({
  server: name,
  tool: name,
  args: boundedList(argument, MAX_ARGUMENTS).default([]),
  kwargs: boundedRecord(argument, MAX_ARGUMENTS, 'named arguments').default({}),
  partial: z.boolean().default(false),
  exact: z.boolean().default(false),
  made: z.boolean().default(false),
})

interface Problem {
  /** Index of the call. */
  call: number
  code: string
  message: string
  hint: string
}

export const checkMethods = {
  check_calls: method(
    z.object({ calls: boundedList(seenCall, MAX_CALLS) }),
    async ({ calls }, { catalog, scope, permissions, signal }): Promise<Problem[]> => {
      const problems: Problem[] = []
      const judge = async ({
        server,
        tool,
        args,
        kwargs,
        partial,
        exact,
      }: (typeof calls)[number]): Promise<BridgeError | undefined> => {
        const serverName = catalog.resolveServer(server)
        if (serverName !== undefined && scope.has(serverName))
          return catalog.checkCall(serverName, { tool, args, kwargs, isPartial: partial, exact })
        const unavailable = scope.unavailable(server)
        const names = scope.servers.map((one) => one.alias)
        const hint = `${didYouMeanText(server, names)} ${unavailable.hint}`.trim()
        return new BridgeError(unavailable.code, unavailable.message, { hint })
      }
      for (const [index, call] of calls.entries()) {
        if (problems.length >= MAX_PROBLEMS) break
        const wrong = await judge(call)
        if (wrong) problems.push(problemOf(index, wrong))
      }
      if (problems.length > 0 || permissions === undefined) return problems
      const seen = calls.flatMap((call, index) => {
        const serverName = catalog.resolveServer(call.server)
        const tool = serverName === undefined ? undefined : catalog.seenTool(serverName, call.tool)
        return tool ? [{ index, tool, args: literalArguments(tool, call), isMade: call.made }] : []
      })
      for (const [at, refusal] of (await permissions.foresee(seen, signal)).entries())
        if (refusal) problems.push(problemOf(seen[at]!.index, refusal))
      return problems.slice(0, MAX_PROBLEMS)
    },
  ),
}

/** Python shows the message of wrong arguments alone, so how to send an argument that is not listed belongs to it. */
function problemOf(call: number, { code, message, hint, data }: BridgeError): Problem {
  const isUnlisted = isRecord(data) && data['isUnlisted'] === true
  return { call, code, message: isUnlisted ? `${message}. ${hint}` : message, hint }
}

/** The arguments as they will be sent; undefined unless the source has all of them as literals. */
function literalArguments(
  tool: CatalogTool,
  { args, kwargs, partial, exact }: z.infer<typeof seenCall>,
): Record<string, unknown> | undefined {
  const isKnown = !partial && [...args, ...Object.values(kwargs)].every((value) => value !== UNKNOWN)
  // For a prompt or a resource, other arguments are sent than the method takes.
  if (!isKnown || tool.method !== undefined) return undefined
  return orUndefined(() => bindArguments(tool, args, exact ? kwargs : withoutRaw(tool, kwargs), { exact }))
}
