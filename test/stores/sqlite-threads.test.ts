import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { importsOf, source } from '../architecture/source.ts'

/** Every module that is loaded with `path`; imports of types load nothing. */
function loadedWith(path: string, loaded = new Set<string>()): Set<string> {
  if (loaded.has(path)) return loaded
  loaded.add(path)
  for (const { target, relative, typeOnly } of importsOf(source(path, readFileSync(path, 'utf8')))) {
    if (typeOnly) continue
    if (relative) loadedWith(target, loaded)
    else loaded.add(target)
  }
  return loaded
}

// Loading the schemas takes four times as long as everything else in these threads, at every start.
test.each(['writer-thread.ts', 'search/search-thread.ts'])('%s does not load the schemas', (thread) => {
  const loaded = loadedWith(`src/stores/sqlite/${thread}`)
  expect([...loaded]).toContain('node:sqlite')
  expect([...loaded]).not.toContain('zod')
})
