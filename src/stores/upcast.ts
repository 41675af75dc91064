import { MainstemError } from '../model/outcome/mainstem-error.ts'
import { SCHEMA_VERSION } from '../model/schema-version.ts'
import { epochMs } from '../model/text/epoch-ms.ts'
import type { StoredState } from './store.ts'

// Without zod, because the threads of the SQLite store convert entries and need not load it.

/** By version: converts an entry of that version to the next. */
export type Upcasts = ReadonlyMap<number, (entry: unknown) => unknown>

/** Version 1 is the first. */
export const UPCASTS: Upcasts = new Map([
  [1, renameAsks],
  [2, convertReset],
])

/** Converts an entry that an older Mainstem wrote to the current shape, without checking the result. */
export function upcast(entry: unknown, version: number, upcasts: Upcasts): unknown {
  if (version > SCHEMA_VERSION) throw unreadable(version, 'it was written by a newer Mainstem')
  let current = entry
  for (let at = version; at < SCHEMA_VERSION; at++) {
    const step = upcasts.get(at)
    if (!step) throw unreadable(version, `nothing leads from ${at} to ${at + 1}`)
    current = step(current)
  }
  return current
}

/** Converts a record that an older Mainstem wrote. Records have no version, but contain the events of open requests. */
export function upcastRecord(record: unknown): StoredState {
  const state = Object(record)
  return Array.isArray(state.requests) ? { ...state, requests: state.requests.map(renameInRequest) } : state
}

function renameAsks(entry: unknown): unknown {
  const { event, ...others } = Object(entry)
  return { ...others, event: event?.type === 'request.opened' ? renameInRequest(event) : event }
}

/** `answeredBy` of a request was called `asks` in version 1. */
function renameInRequest(request: unknown): unknown {
  const { asks: answeredBy, ...others } = Object(request)
  return answeredBy === undefined ? others : { ...others, answeredBy }
}

/** Until version 2, the time when a limit resets had the format of its agent. */
function convertReset(entry: unknown): unknown {
  const { event, ...others } = Object(entry)
  if (event?.type !== 'limit.reported' || event.resetsAt === undefined) return entry
  const { resetsAt, ...limit } = event
  const ms = epochMs(resetsAt)
  return { ...others, event: ms === undefined ? limit : { ...limit, resetsAt: ms } }
}

function unreadable(version: number, why: string): MainstemError {
  return new MainstemError('storage_failed', `an entry of schema version ${version} cannot be read: ${why}`)
}
