import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plant } from './plants.ts'

const ROOT = join(import.meta.dirname, '../..')
const COPIED = [
  'package.json',
  'tsconfig.json',
  'src',
  'scripts/tools.ts',
  'faults',
  'test/sessions',
  'test/agents/invariants.ts',
  'test/postgres/server.ts',
  'test/programs',
  'test/stores/shared-memory.ts',
  'test/stores/sqlite-parts.ts',
]

/** The file with the fault in it. */
export function planted({ name, file, find, replace }: Plant): string {
  const text = readFileSync(join(ROOT, file), 'utf8')
  if (text.split(find).length !== 2)
    throw new Error(
      `The plant "${name}" does not fit ${file}: its text must occur exactly once. Update the plant.`,
    )
  return text.replace(find, () => replace)
}

/** Copies the sources into an empty directory, with the fault where there is one. */
export function copySources(directory: string, plant: Plant | undefined): void {
  for (const path of COPIED) cpSync(join(ROOT, path), join(directory, path), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  if (plant) writeFileSync(join(directory, plant.file), planted(plant))
}
