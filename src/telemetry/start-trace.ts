// In which trace a run is: its client's, or a new one, and whether that is sampled.
import { randomBytes } from 'node:crypto'
import type { TraceContext } from '../events/trace-context.ts'
import type { OtelSettings } from './otel-settings.ts'

const MAX_ID = 2 ** 48

export function startTrace(
  { isParentBased, ratio }: OtelSettings['sampler'],
  ofClient: TraceContext | undefined,
): TraceContext {
  const traceId = ofClient?.traceId ?? randomBytes(16).toString('hex')
  const sampled = ofClient && isParentBased ? ofClient.sampled : isSampled(traceId, ratio)
  return { ...ofClient, traceId, sampled, isExported: true }
}

/** The same for every program that takes part in the trace: by its id (OpenTelemetry, TraceIdRatioBased). */
function isSampled(traceId: string, ratio: number): boolean {
  return Number.parseInt(traceId.slice(-12), 16) < ratio * MAX_ID
}
