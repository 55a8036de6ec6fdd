// What packages use of keep/saved.
export { type Artifact, ARTIFACT_LIMITS, ArtifactStore } from './artifact-store.ts'
export {
  reachedTools,
  savedToolCall,
  savedToolContent,
  savedToolLine,
  savedToolSummary,
  WORKFLOW_TITLE,
  writtenText,
  type SavedTool,
  type SavedToolContent,
  type WorkflowDetails,
} from './saved-tool.ts'
export { skillFrontmatter, type SkillFrontmatter, skillText } from './skill-text.ts'
