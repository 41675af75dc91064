import { board } from './board.ts'
import { daemon } from './daemon.ts'
import type { Dialect } from './dialect.ts'
import { execute } from './execute.ts'
import { mainstem } from './mainstem.ts'
import { ues } from './ues.ts'
import { unified } from './unified.ts'

const all: readonly Dialect[] = [mainstem, execute, ues, daemon, board, unified]

/** Every dialect by its id. */
export const dialects: ReadonlyMap<string, Dialect> = new Map(all.map((dialect) => [dialect.id, dialect]))
