// What packages use of serve/mcp.
export { createServer } from './create-server.ts'
export { Deliveries, ofResponse } from './deliveries.ts'
export { maskerFor } from './output-resources.ts'
export type { MakeOffer, Offer, OfferedCell, OfferParts } from './offer.ts'
export { parseRunPythonArguments, RUN_PYTHON_TOOL } from './run-python-tool.ts'
export type { ServerParts } from './run-python.ts'
export { OpenRuns } from './runs/open-runs.ts'
export { type Conversation, type NewHandle, oneSession, type Sessions, type SessionWork } from './sessions.ts'
