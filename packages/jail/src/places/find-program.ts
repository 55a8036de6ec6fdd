// Finds the program that starts a server, and the folders of the program and its interpreter.
import { constants } from 'node:fs'
import { access, open, realpath, stat } from 'node:fs/promises'
import path from 'node:path'

/**
 * The full path of a command, found like the operating system does.
 * @throws NodeJS.ErrnoException ENOENT, EACCES
 */
export async function findCommand(command: string, cwd: string, searchPath: string): Promise<string> {
  if (command.includes('/')) {
    const file = path.resolve(cwd, command)
    await access(file, constants.X_OK)
    return file
  }
  for (const folder of searchPath.split(path.delimiter)) {
    if (folder === '') continue
    const file = path.resolve(cwd, folder, command)
    if (await isProgram(file)) return file
  }
  throw Object.assign(new Error('the command was not found'), { code: 'ENOENT' })
}

/**
 * Folders that must be readable for a program: its own, that of its link target, and those of the interpreter in its
 * first line.
 */
export async function foldersOfProgram(file: string, searchPath: string): Promise<string[]> {
  const real = await realpath(file)
  const interpreter = await interpreterOf(real, searchPath)
  const next = interpreter === undefined ? [] : [interpreter, await realpath(interpreter).catch(() => interpreter)]
  return [file, real, ...next].flatMap((one) => [one, installationOf(one)])
}

/** `/home/me/.nvm/versions/node/v24` for `…/v24/bin/node`, and for a script below `…/v24/lib/node_modules`. */
function installationOf(file: string): string {
  const [before] = file.split('/lib/node_modules/')
  if (before !== undefined && before !== file) return before
  const folder = path.dirname(file)
  return /^(?:bin|shims)$/.test(path.basename(folder)) ? path.dirname(folder) : folder
}

async function interpreterOf(file: string, searchPath: string): Promise<string | undefined> {
  const handle = await open(file).catch(() => undefined)
  if (!handle) return undefined
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(256), 0, 256, 0)
    const [, program = '', argument] =
      /^#!\s*(\/\S+)(?:[ \t]+(?:-S[ \t]+)?(\S+))?/.exec(buffer.toString('latin1', 0, bytesRead)) ?? []
    if (program === '') return undefined
    if (path.basename(program) !== 'env' || argument === undefined) return program
    return await findCommand(argument, '/', searchPath).catch(() => undefined)
  } finally {
    await handle.close()
  }
}

async function isProgram(file: string): Promise<boolean> {
  const found = await access(file, constants.X_OK)
    .then(() => stat(file))
    .catch(() => undefined)
  return found?.isFile() === true
}
