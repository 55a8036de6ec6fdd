// Names of files in the state folder that hold no servers. Pure.

export const PERMISSIONS_FILE = 'permissions.json'
