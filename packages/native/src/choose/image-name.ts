// Interprets MCP_BRIDGE_IMAGE: the name of an image, or a folder or archive on this machine. Pure.
import path from 'node:path'

/** The image for containers if none is set. */
export const DEFAULT_IMAGE = 'python:3.14-slim'

export function isImagePath(image: string): boolean {
  return path.isAbsolute(image)
}
