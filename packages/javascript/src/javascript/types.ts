// Removes types from TypeScript. A separate bundle: most cells are JavaScript, and this is the larger part.
import { transform } from 'sucrase'

/** Keeps every line in place. @throws SyntaxError */
export function withoutTypes(source: string): string {
  return transform(source, { transforms: ['typescript'], disableESTransforms: true, keepUnusedImports: true }).code
}
