// Chooses the trace of a run: its client's or a new one. Decides whether it is sampled.
import { randomBytes } from 'node:crypto'
import type { TraceContext } from '@sandbridge/core/observe/events'
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

/** Decides by trace id, so that every program in the trace decides the same (OpenTelemetry, TraceIdRatioBased). */
function isSampled(traceId: string, ratio: number): boolean {
  return Number.parseInt(traceId.slice(-12), 16) < ratio * MAX_ID
}
