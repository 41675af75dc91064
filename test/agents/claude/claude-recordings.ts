import type { Event } from '../../../src/model/index.ts'
import { decodeFixture, fixtures } from '../fixtures.ts'

export const recordings = fixtures.filter(({ agent }) => agent === 'claude')

/** What a recording came to; those of the newest version go by the name of their scenario. */
export function eventsIn(name: string): Event[] {
  const fixture = recordings.find((one) => one.name === name || one.name === `claude/${name}`)
  if (!fixture) throw new Error(`there is no recording ${name}`)
  return decodeFixture(fixture).entries.map(({ event }) => event)
}
