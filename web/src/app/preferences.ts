import { Store } from './store.ts'

/** What someone chose for this browser. */
export interface Preferences {
  /** Diffs in one column or in two. */
  diff: 'unified' | 'split'
  /** The program that opens files; none by default, because it may not be on this machine. */
  editor: 'none' | 'vscode' | 'cursor' | 'zed'
  /** Whether the list of sessions is grouped by directory. */
  byProject: boolean
  /** Sessions at the top of the list. */
  pinned: readonly string[]
  /** Sessions that are not in the list. */
  archived: readonly string[]
}

const KEY = 'mainstem-preferences'

const DEFAULTS: Preferences = { diff: 'unified', editor: 'none', byProject: false, pinned: [], archived: [] }

export const preferences = new Store<Preferences>(stored())

function stored(): Preferences {
  try {
    const known: Partial<Preferences> = JSON.parse(localStorage.getItem(KEY) ?? '{}')
    return { ...DEFAULTS, ...known }
  } catch {
    return DEFAULTS
  }
}

export function prefer(change: Partial<Preferences>): void {
  preferences.update(change)
  localStorage.setItem(KEY, JSON.stringify(preferences.get()))
}

export const EDITORS: Record<Preferences['editor'], string> = {
  none: 'No editor',
  vscode: 'VS Code',
  cursor: 'Cursor',
  zed: 'Zed',
}

/** The link that opens a file in an editor on this machine. */
export function editorHref(
  editor: Preferences['editor'],
  path: string,
  line: number | undefined,
): string | undefined {
  if (editor === 'none') return undefined
  const place = path.split('/').map(encodeURIComponent).join('/')
  return `${editor}://file${place}${line === undefined ? '' : `:${line}`}`
}
