// The slots that packages fill, with the types of what fills them: all `…-part.ts` of the core.
export { search, type SearchPart } from './calls/catalog/search-part.ts'
export { flow, type FlowServers, type SessionFlow, type ShownContent, type Source } from './calls/flow-part.ts'
export { learning } from './calls/learned-part.ts'
export type { Arguments, CallPlace, Learned, LearnedTool, ToolIdentity } from './calls/learned-part.ts'
export { once } from './calls/once-part.ts'
export type { CellJournal, CellToJournal, EnteredCall, JournaledCall, JournaledSession } from './calls/once-part.ts'
export type { Journals, JournalsOptions } from './calls/once-part.ts'
export { gates } from './calls/permissions/gates-part.ts'
export type { Admitted, Cancellable, CellGate, CellOf, SeenToolCall } from './calls/permissions/gates-part.ts'
export { languages } from './cell/javascript-part.ts'
export {
  type ReadMasker,
  saved,
  type Saved,
  type SavedOptions,
  type UserState,
  type ProjectEntry,
  type Projects,
  projects,
} from './calls/memories-part.ts'
export { masking } from './cell/masking-part.ts'
export type { AskedQuestion, AsksModel, CellMasker, Mask, MaskedData, Maskers } from './cell/masking-part.ts'
export { profiles } from './config/terminal-part.ts'
export { clients, CLIENTS } from './config/readers/clients-part.ts'
export { formerNames, RULES, rules } from './config/rules/rules-part.ts'
export { type BuildOptions, containers, type EngineName } from './isolation/detect/containers-part.ts'
export { type Jail, jailHome, type JailMakerName, type JailPlace, jails } from './isolation/jail-part.ts'
export { natives } from './isolation/detect/native-part.ts'
export { AS_PODS, kubernetes } from './isolation/detect/kubernetes-part.ts'
export type { ClusterChoice, DescribedCluster, KeptPod } from './isolation/detect/kubernetes-part.ts'
export { type OuterLayer, outerWall } from './isolation/pyodide/native-wall-part.ts'
export { type PackageFile, type PackageFiles, packageName, pythonPackages } from './isolation/cell-packages-part.ts'
export { postgres } from './util/stores/postgres-part.ts'
export { signIns } from './upstream/auth/sign-in-store.ts'
export { type CostsOptions, dailyCosts, record, type RecordOptions } from './observe/record-part.ts'
export { telemetry, type TelemetryOptions } from './observe/telemetry-part.ts'
export { http, type HttpFlags } from './serve/http-part.ts'
export { APP_TYPE, apps, SHOW_APP } from './serve/mcp/apps-part.ts'
export { knowsTasks, tasks, TASKS_EXTENSION } from './serve/mcp/runs/tasks-part.ts'
export type { CapabilitiesOf, ServedTasks, Tasks, TaskWaits } from './serve/mcp/runs/tasks-part.ts'
export { page, pageOnDemand } from './serve/page-part.ts'
export { installs } from './upstream/installs-part.ts'
export type { Installation, InstallFacts, InstallLimits, InstallOptions } from './upstream/installs-part.ts'
export { oauth } from './upstream/sign-in-part.ts'
export type { Callback, ClientCredentialsOptions, LoginOptions, LoginOutcome } from './upstream/sign-in-part.ts'
export type { Revocation, RevokeOptions, ServerAuth, SignInPage, StoredAuthOptions } from './upstream/sign-in-part.ts'
export { remote, type RemoteOptions } from './upstream/remote-part.ts'
