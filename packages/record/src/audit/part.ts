// What the core uses of the record.
export { Audit } from './audit.ts'
export { recordIn } from './other-files.ts'
