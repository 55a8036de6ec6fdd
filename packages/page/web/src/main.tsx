// Entry point of the page.
import { render } from 'preact'
import { takeKey } from './api.ts'
import { App } from './app.tsx'
import { store } from './store.ts'

await takeKey()
store.follow()
render(<App />, document.querySelector('#page')!)
