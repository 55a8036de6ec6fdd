// Interprets MCP_BRIDGE_IMAGE: the name of an image that an engine has or pulls, or a folder or archive on this
// machine. Pure.
import path from 'node:path'

/** The image for containers if none is set. */
export const DEFAULT_IMAGE = 'python:3.14-slim'

/** True for a folder or an archive. */
export function isImagePath(image: string): boolean {
  return path.isAbsolute(image)
}
