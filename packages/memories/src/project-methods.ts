// The methods for `/projects`: the kernel fetches files before a cell and sends changes after it.
import * as z from 'zod'
import { method, tellingMethod } from '@sandbridge/core/calls/methods'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { fromBase64, uploadsOf } from './saved/uploads.ts'
import { ProjectStore } from './project-store.ts'

const PIECE_BYTES = 4 << 20
const MAX_PATHS = 1_000
// Sanity limits only.
const place = z.string().min(1).max(5_000)
const places = z.array(place).max(MAX_PATHS).default([])

export const projectMethods = {
  projects: tellingMethod(z.object({}), async (_, { state: { projects }, flow }) => {
    const all = storeOf(projects).list()
    await flow?.lists(
      'projects',
      all.map(({ path }) => path),
    )
    return all.map(({ path, stamp, isFolder, sizeBytes }) => ({
      path,
      stamp,
      ...(isFolder ? { folder: true } : { sizeBytes }),
    }))
  }),

  /** Returns the files in order, up to 4 MiB, from `offset` on. A file that no longer exists has no data. */
  read_projects: tellingMethod(
    z.object({
      paths: z.array(place).min(1).max(MAX_PATHS),
      offset: z
        .int()
        .min(0)
        .max(2 ** 40)
        .default(0),
    }),
    async ({ paths, offset }, { state: { projects }, flow }) => {
      const read: { path: string; data?: string; sizeBytes?: number }[] = []
      let room = PIECE_BYTES
      for (const [index, path] of paths.entries()) {
        if (room <= 0) break
        const piece = { offset: index === 0 ? offset : 0, length: room }
        const found = await storeOf(projects)
          .read(path, piece)
          .catch(() => undefined)
        if (found === undefined) read.push({ path })
        else if (index > 0 && found.data.length < found.sizeBytes) break
        else read.push({ path, data: found.data.toString('base64'), sizeBytes: found.sizeBytes })
        if (found) await flow?.opens('projects', [found.data])
        room -= found?.data.length ?? 0
      }
      return read
    },
  ),

  keep_projects: method(
    z.object({
      files: z
        .array(z.object({ path: place, data: z.string().nullish(), upload: z.int().positive().nullish() }))
        .max(MAX_PATHS)
        .default([]),
      folders: places,
      removed: places,
    }),
    ({ files, folders, removed }, { state: { projects }, origin, flow }) => {
      const uploaded = files.flatMap(({ upload }) => upload ?? [])
      return uploadsOf({ origin }).takeAll(uploaded, async (data) => {
        const content = files.map(({ path, data: text, upload }) => ({
          path,
          data: upload ? data[uploaded.indexOf(upload)]! : fromBase64(text ?? ''),
        }))
        for (const { path, data: bytes } of content) await flow?.keeps(bytes, path)
        for (const path of folders) await flow?.keeps(path)
        return storeOf(projects).keep({ files: content, folders, removed })
      })
    },
  ),
}

function storeOf(projects: unknown): ProjectStore {
  if (projects instanceof ProjectStore) return projects
  throw new BridgeError('PROXY_METHOD_UNKNOWN', 'MCP_BRIDGE_PROJECTS is off')
}
