import { setTimeout as sleep } from 'node:timers/promises'
/// <reference lib="esnext.disposable" preserve="true" />

import { createHash } from 'node:crypto'
import type { Entry, EventType } from '../model/index.ts'
import { isDamaged } from '../model/outcome/error-table.ts'
import { MainstemError } from '../model/outcome/mainstem-error.ts'
import { importerOf } from '../model/owner.ts'
import { matchesTerms, type SearchTerm, searchTokens } from '../model/text/search-terms.ts'
import { searchText } from '../model/text/search-text.ts'
import { BETWEEN } from './log-rows.ts'
import { typeIn } from './row-types.ts'
import { UPCASTS, upcast } from './upcast.ts'

/** Characters of a scope. Principals that share one by chance cost each other time, and never see each other's entries. */
const SCOPE_CHARS = 4
const SCOPES = 36 ** SCOPE_CHARS

/**
 * What every word of a principal begins with in an index. A search looks up words of its own principal only, so its time
 * does not depend on the words of others, and tells nothing about them.
 */
export function scopeOf(principal: string): string {
  const hash = createHash('sha256').update(importerOf(principal)).digest().readUIntBE(0, 6)
  return (hash % SCOPES).toString(36).padStart(SCOPE_CHARS, '0')
}

/** The matching entries, last first. */
export function matchesIn(entries: readonly Entry[], terms: readonly SearchTerm[]): Entry[] {
  return entries
    .filter(({ event }) => {
      const text = searchText(event)
      return text !== undefined && matchesTerms(text, terms)
    })
    .reverse()
}

/**
 * The matching entries among those that `read` gives. None where entries were removed meanwhile or are damaged, so that
 * the other matches can be read.
 */
export async function readableMatches(
  session: string,
  terms: readonly SearchTerm[],
  read: () => readonly Entry[] | Promise<readonly Entry[]>,
): Promise<Entry[]> {
  try {
    return matchesIn(await read(), terms)
  } catch (thrown) {
    const isRemoved = thrown instanceof MainstemError && thrown.code === 'cursor_gone'
    if (isRemoved || isDamaged(thrown, session)) return []
    throw thrown
  }
}

/** An entry with text to search. */
export interface SearchableEntry {
  /** Its place in the row of the log, from 0. */
  place: number
  /** Each with the scope of its principal before it. */
  tokens: readonly string[]
}

/** Most entries of a log are of these types, and none of them has text to search. Not parsing them saves most of the work. */
const WITHOUT_TEXT: ReadonlySet<string> = new Set<EventType>([
  'text.delta',
  'thinking.delta',
  'tool.input.delta',
  'tool.progressed',
  'usage.reported',
  'output.written',
  'native.unmapped',
])

/** The entries of a row of the log that have text to search. `version` is that of the row. */
export function searchableEntries(body: string, version: number, principal: string): SearchableEntry[] {
  const found: SearchableEntry[] = []
  const scope = scopeOf(principal)
  for (const [place, text] of body.split(BETWEEN).entries()) {
    if (WITHOUT_TEXT.has(typeIn(text) ?? '')) continue
    const tokens = tokensOf(text, version)
    if (tokens.length > 0) found.push({ place, tokens: tokens.map((token) => scope + token) })
  }
  return found
}

/** Skips an entry that cannot be read, so that one bad entry does not stop the index. */
function tokensOf(text: string, version: number): string[] {
  try {
    const { event } = Object(upcast(JSON.parse(text), version, UPCASTS))
    return searchTokens(searchText(event) ?? '')
  } catch {
    return []
  }
}

/** Without a commit for this long, the index may use the processor. */
const QUIET_MS = 1_000
/** New entries wait no longer than this for their index, also while commits keep coming. */
const LATEST_MS = 60_000

/** Starts the search index when commits pause, so that a burst does not wait for it. */
export class IndexSchedule implements Disposable {
  readonly #run: () => void
  #timer: NodeJS.Timeout | undefined
  #first = 0
  #last = 0

  constructor(run: () => void) {
    this.#run = run
  }

  /** Entries were committed. */
  changed(): void {
    this.#last = performance.now()
    if (this.#timer) return
    this.#first = this.#last
    this.#wait(QUIET_MS)
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }

  /** One timer at a time, so that a commit costs only a note of the time. */
  #wait(ms: number): void {
    this.#timer = setTimeout(() => this.#look(), ms).unref()
  }

  #look(): void {
    this.#timer = undefined
    const left = Math.min(this.#last + QUIET_MS, this.#first + LATEST_MS) - performance.now()
    if (left > 0) this.#wait(left)
    else this.#run()
  }
}

/**
 * Works until nothing is left to do. Others have their turn after each step. Old entries can wait: a pause as long as the
 * work leaves half of the time to others.
 */
export async function stepWhileUseful<Step extends 'nothing' | 'lost' | 'work' | 'backfill'>(
  step: () => Step | Promise<Step>,
  signal?: AbortSignal,
): Promise<Step> {
  for (;;) {
    const began = performance.now()
    const done = await step()
    if (signal?.aborted || done === 'nothing' || done === 'lost') return done
    const pauseMs = done === 'backfill' ? performance.now() - began : 0
    await sleep(pauseMs, undefined, { ...(signal && { signal }), ref: false }).catch(() => undefined)
  }
}
