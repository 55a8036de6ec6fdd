// What packages use of keep/saved.
export { type Artifact, ARTIFACT_LIMITS, ArtifactStore } from './artifact-store.ts'
export { PROJECT_LIMITS, type ProjectEntry, ProjectStore } from './project-store.ts'
export { reachedTools } from './reached-tools.ts'
export { savedToolCall, savedToolContent, savedToolLine, savedToolSummary, WORKFLOW_TITLE } from './saved-tool.ts'
export { writtenText } from './saved-tool.ts'
export type { SavedTool, SavedToolContent, WorkflowDetails } from './saved-tool.ts'
export { skillFrontmatter, type SkillFrontmatter, skillText } from './skill-text.ts'
