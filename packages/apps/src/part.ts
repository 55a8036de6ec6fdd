// What the core uses of apps.
export { readViewer, withAppNotes, withShowApp } from './app-tool.ts'
export { appsOf } from './server-apps.ts'
export { showApp } from './show-app.ts'
