import { Store } from './store.ts'

export type Theme = 'system' | 'light' | 'dark'

const KEY = 'mainstem-theme'
const SCHEMES: Record<Theme, string> = { system: 'light dark', light: 'light', dark: 'dark' }
const NEXT: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' }

export const theme = new Store<Theme>(stored())

function stored(): Theme {
  const value = localStorage.getItem(KEY)
  return value === 'light' || value === 'dark' ? value : 'system'
}

export function applyTheme(): void {
  document.documentElement.style.colorScheme = SCHEMES[theme.get()]
}

export function cycleTheme(): void {
  theme.set(NEXT[theme.get()])
  localStorage.setItem(KEY, theme.get())
  applyTheme()
}
