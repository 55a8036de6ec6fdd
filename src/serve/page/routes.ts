// The page's requests, one entry per path. Responses are JSON; changes are sent as events.
import { join } from 'node:path'
import * as z from 'zod'
import type { Bridge } from '../../bridge/bridge.ts'
import { SETTINGS_FILE } from '../../config/readers/own-places.ts'
import { describeSettings } from '../../config/settings/file/describe-settings.ts'
import { BridgeError } from '../../errors.ts'
import { answerAsked, openQuestions } from './views/ask.ts'
import { costs } from './views/costs.ts'
import { kept, keptArtifact, keptTool } from './views/kept.ts'
import { recordedRun, recordRuns, runFilter } from './views/record.ts'
import { codeParam, get, nameParam, post, type Routes } from './route.ts'
import type { Sources } from './sources/sources.ts'

/** It becomes a file name. */
const questionId = z.string().regex(/^[0-9a-f]{16}$/)
const version = z.coerce.number().int().optional()

/** @param bridge serves the page @param asked the paths that each bridge answers for itself */
export function createRoutes(bridge: Bridge, sources: Sources, asked: Routes): Routes {
  const ofBridge = [...asked].map(([path, { method }]): [string, { method: typeof method; answer: Answer }] => [
    path,
    { method, answer: (params) => sources.find(sourceIn(params)).ask(path, params) },
  ])
  return new Map([
    ...ofBridge,
    get('all-servers', z.object({}), () => sources.askAll('servers')),
    get('cell', z.object({ source: nameParam, id: nameParam }), ({ source, id }) => {
      const cell = sources.find(source).history.state.cells.get(id)
      if (cell) return cell
      throw new BridgeError('TOOL_ARGUMENTS_INVALID', 'This run is no longer kept', { hint: '' })
    }),
    get('record', runFilter, (filter) => recordRuns(bridge, sources, filter)),
    get('record/run', z.object({ id: nameParam, at: z.coerce.number() }), ({ id, at }) => recordedRun(bridge, id, at)),
    get('questions', z.object({}), () => openQuestions(bridge)),
    post(
      'question/answer',
      z.object({ id: questionId, asking: nameParam, text: codeParam, answer: nameParam }),
      (given) => answerAsked(bridge, given, given.answer),
    ),
    get('settings', z.object({}), () =>
      describeSettings(process.env, {}, join(bridge.settings.stateDir, SETTINGS_FILE)),
    ),
    get('costs', z.object({}), () => costs(bridge)),
    get('kept', z.object({}), () => kept(bridge)),
    get('artifact', z.object({ name: nameParam, version }), (one) => keptArtifact(bridge, one.name, one.version)),
    get('tool', z.object({ name: nameParam, version }), (one) => keptTool(bridge, one.name, one.version)),
  ])
}

type Answer = (params: unknown) => unknown

function sourceIn(params: unknown): string | undefined {
  const { source } = (params ?? {}) as { source?: unknown }
  return typeof source === 'string' && source !== '' ? source : undefined
}
