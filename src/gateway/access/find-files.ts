import { opendir } from 'node:fs/promises'
import { join } from 'node:path'

/** Entries that one search looks at; a larger tree is searched in part. */
const MOST_ENTRIES = 20_000

/** Directories that nobody means when they name a file. */
const SKIPPED: ReadonlySet<string> = new Set([
  '.git',
  'node_modules',
  '.venv',
  '__pycache__',
  '.cache',
  'target',
])

/** Files below a directory whose paths contain some words. */
export interface FoundFiles {
  /** Paths relative to the directory, the best match first. */
  files: readonly string[]
  /** False if the directory has more files than a search looks at. */
  complete: boolean
}

/**
 * Finds files by words in their paths, near the directory first. Follows no symbolic link, so that it stays below the
 * directory.
 */
export async function findFiles(directory: string, words: string, limit: number): Promise<FoundFiles> {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  const found: { path: string; rank: number }[] = []
  const folders = ['']
  let seen = 0
  for (let folder = folders.shift(); folder !== undefined && seen < MOST_ENTRIES; folder = folders.shift()) {
    for (const entry of await entriesOf(join(directory, folder))) {
      seen++
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) {
        if (!SKIPPED.has(entry.name)) folders.push(path)
      } else if (entry.isFile()) {
        const rank = rankOf(path, entry.name, wanted)
        if (rank !== undefined) found.push({ path, rank })
      }
      if (seen >= MOST_ENTRIES) break
    }
  }
  found.sort((a, b) => a.rank - b.rank)
  return {
    files: found.slice(0, limit).map(({ path }) => path),
    complete: folders.length === 0 && seen < MOST_ENTRIES,
  }
}

/** The entries by name. A directory that cannot be read, or is gone meanwhile, has none. */
async function entriesOf(path: string) {
  const entries = []
  try {
    for await (const entry of await opendir(path)) {
      entries.push(entry)
      if (entries.length >= MOST_ENTRIES) break
    }
  } catch {
    return entries
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** 0 for a name that begins with a word, 1 for one that contains it, 2 for a path; undefined if a word is missing. */
function rankOf(path: string, name: string, wanted: readonly string[]): number | undefined {
  const [lowPath, lowName] = [path.toLowerCase(), name.toLowerCase()]
  if (!wanted.every((word) => lowPath.includes(word))) return undefined
  if (wanted.some((word) => lowName.startsWith(word))) return 0
  return wanted.some((word) => lowName.includes(word)) ? 1 : 2
}
