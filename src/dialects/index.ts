import type { Dialect } from './dialect.ts'
import { execute } from './execute.ts'
import { mainstem } from './mainstem.ts'

const all: readonly Dialect[] = [mainstem, execute]

/** Every dialect by its id. */
export const dialects: ReadonlyMap<string, Dialect> = new Map(all.map((dialect) => [dialect.id, dialect]))
