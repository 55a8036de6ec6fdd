// What packages use of config/secrets.
export { commandLine, shellWord, wholeCommandLine, wholeWord } from './command-line.ts'
export { HeldSecrets, createRedactor, type Redactor, redactStart } from './redact.ts'
export { hasSecretPart, isSecret, isSecretName } from './secret-arguments.ts'
