import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const files = globSync('web/src/**/*.{ts,tsx}').map((path) => ({ path, text: readFileSync(path, 'utf8') }))

/** The packages that the page may import. It reaches the server only through the client. */
const PACKAGES = new Set([
  'mainstem/client',
  'react',
  'react-dom/client',
  'virtua',
  'marked',
  'remend',
  'dompurify',
])

/** Grammars are modules of their own, of which the page has some. */
const isPackage = (name: string): boolean => PACKAGES.has(name) || name.startsWith('highlight.js/lib/')

test('the page imports its own files, the client, and the packages of the list', () => {
  expect(files.length).toBeGreaterThan(40)
  const foreign = files.flatMap(({ path, text }) =>
    [...text.matchAll(/(?:from|import\() ?'([^']+)'/g)]
      .map(([, target = '']) => target)
      .filter((target) => (target.startsWith('.') ? target.includes('../src/') : !isPackage(target)))
      .map((target) => `${path}: ${target}`),
  )
  expect(foreign).toEqual([])
})

test('markup becomes DOM in one file alone', () => {
  const places = files.filter(({ text }) =>
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMPurify/.test(text),
  )
  expect(places.map(({ path }) => path)).toEqual(['web/src/text/sanitize.ts'])
})

test('files stay short, and have no way around the compiler or the linter', () => {
  for (const { path, text } of files) {
    expect(text.split('\n').length, path).toBeLessThanOrEqual(350)
    expect(text, path).not.toMatch(/\bany\b(?=[\];,)>])|as unknown as|@ts-|biome-ignore/)
  }
})
