// Light or dark theme: the system's, until the user chooses one.
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'

const NAME = 'sandbridge-theme'

type Theme = 'light' | 'dark'

export function applyChosenTheme(): void {
  const chosen = localStorage.getItem(NAME)
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen
}

export function ThemeButton(): JSX.Element {
  const [theme, setTheme] = useState<Theme>(current())
  const other: Theme = theme === 'dark' ? 'light' : 'dark'
  const change = (): void => {
    localStorage.setItem(NAME, other)
    document.documentElement.dataset['theme'] = other
    setTheme(other)
  }
  return (
    <button type="button" class="quiet theme" onClick={change} aria-label={`Use ${other} colours`}>
      <span aria-hidden="true">{theme === 'dark' ? '☀' : '☾'}</span>
    </button>
  )
}

function current(): Theme {
  const { theme } = document.documentElement.dataset
  if (theme === 'light' || theme === 'dark') return theme
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}
