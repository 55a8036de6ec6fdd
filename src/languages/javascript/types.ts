// Takes the types out of TypeScript. A bundle of its own: most cells are JavaScript, and this is the larger part.
import { transform } from 'sucrase'

/** Every line stays where it was. @throws SyntaxError */
export function withoutTypes(source: string): string {
  return transform(source, { transforms: ['typescript'], disableESTransforms: true, keepUnusedImports: true }).code
}
