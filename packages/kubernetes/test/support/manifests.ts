// The Kubernetes objects in the files of deploy/.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parse, parseAllDocuments } from 'yaml'

const DEPLOY = path.join(import.meta.dirname, '../../deploy')
/** What a bridge needs in a cluster, wherever it runs. */
export const SANDBOXES_BASE = path.join(DEPLOY, 'kubernetes')
/** A bridge inside the cluster. */
export const BRIDGE_BASE = path.join(DEPLOY, 'kubernetes-bridge')
export const CHART = path.join(DEPLOY, 'helm/sandbridge')

interface Rule {
  apiGroups: string[]
  resources: string[]
  verbs: string[]
}

export interface Resource {
  kind: string
  metadata: { name: string; namespace?: string; labels?: Record<string, string> }
  rules?: Rule[]
  spec?: object
  data?: Record<string, string>
}

/** All objects of a kustomize base. */
export function baseObjects(folder: string): Resource[] {
  const { resources } = parse(readFileSync(path.join(folder, 'kustomization.yaml'), 'utf8')) as { resources: string[] }
  return resources.flatMap((file) =>
    file === '../kubernetes'
      ? baseObjects(SANDBOXES_BASE)
      : parseObjects(readFileSync(path.join(folder, file), 'utf8')),
  )
}

export function parseObjects(text: string): Resource[] {
  return parseAllDocuments(text).flatMap((document) => (document.toJS() as Resource | null) ?? [])
}

/** Each verb that rules grant, sorted. */
export function grants(rules: readonly Rule[]): string[] {
  return rules
    .flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) => resources.flatMap((one) => verbs.map((verb) => `${group}/${one}: ${verb}`))),
    )
    .toSorted((a, b) => a.localeCompare(b))
}
