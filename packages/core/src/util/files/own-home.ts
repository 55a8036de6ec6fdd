// Loaded before all else. In a container a user may have neither HOME nor an entry, and Node throws when asked.
import { homedir, userInfo } from 'node:os'
import path from 'node:path'
import { orUndefined } from '../or-undefined.ts'

/** Stands for a home: by convention, there is no such folder. */
export const NO_HOME = '/nonexistent'

function homeOr(other: string): string {
  return orUndefined(() => homedir() || userInfo().homedir) || other
}

// A relative one would be another folder for each process.
if (process.platform !== 'win32') process.env['HOME'] = path.resolve(homeOr(NO_HOME))
