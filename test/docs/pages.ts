import { globSync, readFileSync } from 'node:fs'

/** A page for people, as it stands in the repository. */
export interface Page {
  path: string
  text: string
}

export interface Block {
  /** The page and line it stands on. */
  place: string
  language: string
  text: string
}

export const pages: readonly Page[] = [
  ...globSync('*.md'),
  ...globSync('deploy/*.md'),
  ...globSync('docs/**/*.md', { exclude: ['docs/reference/**'] }),
]
  .sort()
  .map((path) => ({ path, text: readFileSync(path, 'utf8') }))

/** The fenced blocks of a page, in order. */
export function blocksOf({ path, text }: Page): Block[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    place: `${path}:${text.slice(0, match.index).split('\n').length}`,
    language: match[1] ?? '',
    text: match[2] ?? '',
  }))
}

/** What is said in running text: fenced blocks and indented pictures are left out. */
export function proseOf({ text }: Page): string {
  return text.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/^ {4}.*$/gm, '')
}

/** The name under which a heading can be linked to. */
export function anchorsOf({ text }: Page): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** Replaces the names under which a user imports the package by files of this repository. */
export function inSources(text: string): string {
  return text
    .replaceAll(`from 'mainstem'`, `from '../../src/index.ts'`)
    .replaceAll(/from 'mainstem\/([\w/]+)'/g, `from '../../src/$1/index.ts'`)
}
