import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect } from 'vitest'

// Runs before each test file: switches the chosen mutant on, or records which ones the file reaches.
declare global {
  var isMutant: (id: number) => boolean
}

const folder = process.env.MUTATE_FOLDER ?? ''
const chosen = Number(readFileSync(join(folder, 'chosen'), 'utf8'))
const reached = new Set<number>()

globalThis.isMutant =
  chosen > 0
    ? (id) => id === chosen
    : (id) => {
        reached.add(id)
        return false
      }

afterAll(() => {
  if (chosen > 0) return
  const file = expect.getState().testPath ?? ''
  const name = `reached-${file.replaceAll('/', '_')}.json`
  writeFileSync(join(folder, name), JSON.stringify({ file, ids: [...reached] }))
})
