// What MCP_BRIDGE_IMAGE can be: the name of an image that an engine has or fetches, or a folder or an archive of this machine. Pure.
import path from 'node:path'

/** What containers are made from when nothing is set. */
export const DEFAULT_IMAGE = 'python:3.14-slim'

/** Whether it is a folder or an archive. */
export function isImagePath(image: string): boolean {
  return path.isAbsolute(image)
}
