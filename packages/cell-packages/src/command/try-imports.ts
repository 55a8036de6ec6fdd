// Imports packages in a fresh sandbox and reports what each costs.
import * as z from 'zod'
import type { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { packageName } from '@sandbridge/core/parts'
import { parseJson } from '@sandbridge/core/util/json/json.ts'

const TIMEOUT_MS = 300_000

const importedPackage = z.object({
  name: z.string().max(200),
  version: z.string().max(200),
  bytes: z.number(),
  seconds: z.number(),
  problem: z.string().max(500).optional(),
})
export type ImportedPackage = z.infer<typeof importedPackage>

const outcome = z.object({
  packages: z.array(importedPackage).max(2_000),
  totalBytes: z.number(),
  totalCount: z.number(),
  memoryBytes: z.number().nullable(),
})

/**
 * The sizes are those of the packages' own records. A module is found by the files of its package: `scikit-learn` is
 * imported as `sklearn`.
 */
const CODE = `
def _report(words):
    import importlib, importlib.metadata, json, re, time
    def plain(name):
        return re.sub(r"[-_.]+", "-", name).lower()
    def module(dist):
        roots = {str(file).split("/")[0].removesuffix(".py") for file in dist.files or [] if str(file).endswith((".py", ".so", ".pyd"))}
        roots = sorted(root for root in roots if root.isidentifier() and not root.startswith("_"))
        name = plain(dist.metadata["Name"])
        return next((root for root in roots if plain(root) == name), roots[0] if roots else None)
    ours = [d for d in importlib.metadata.distributions() if "/site-packages" in str(d.locate_file("")) and str(d.locate_file("")).startswith(("/opt/", "/usr/lib/site-packages"))]
    sizes = {plain(d.metadata["Name"]): sum(file.size or 0 for file in d.files or []) for d in ours}
    names = {plain(word) for word in words}
    packages = []
    for d in ours:
        name = plain(d.metadata["Name"])
        if name not in names:
            continue
        one = {"name": d.metadata["Name"], "version": d.version, "bytes": sizes[name], "seconds": 0.0}
        root = module(d)
        began = time.perf_counter()
        try:
            if root:
                importlib.import_module(root)
        except BaseException as error:
            one["problem"] = f"{type(error).__name__}: {error}"[:300]
        one["seconds"] = time.perf_counter() - began
        packages.append(one)
    from mcp.runtime import session
    print(json.dumps({"packages": packages, "totalBytes": sum(sizes.values()), "totalCount": len(sizes), "memoryBytes": session().get("memoryUsedBytes")}))
`

/** @throws BridgeError SANDBOX_* when no sandbox starts */
export async function tryImports(
  bridge: Bridge,
  words: readonly string[],
): Promise<Omit<z.infer<typeof outcome>, 'memoryBytes'> & { memoryBytes: number | undefined }> {
  const code = `${CODE}\n_report(${JSON.stringify(words.map((word) => packageName(word)))})`
  const { stdout, error } = await bridge.cells.run(bridge.sessions.open(bridge.tenants.of()), {
    code,
    timeoutMs: TIMEOUT_MS,
  })
  // The sandbox's output is not trusted: a package may print anything.
  const found = outcome.safeParse(parseJson(stdout.trim().split('\n').at(-1) ?? '')).data
  if (!found) {
    throw new BridgeError('SANDBOX_START_FAILED', `The packages could not be tried: ${error?.message ?? 'no report'}`, {
      hint: 'Try `sandbridge exec -c "1 + 1"`, and `sandbridge doctor`.',
    })
  }
  return { ...found, memoryBytes: found.memoryBytes ?? undefined }
}
