import { expect, test } from 'vitest'
import { decodeFixture, fixtures } from '../fixtures.ts'
import { reviewed } from './reviewed-texts.ts'
import { unshownTexts } from './unshown-texts.ts'

const agents = Map.groupBy(fixtures, ({ agent }) => agent)

const isAt = (place: string) => (pattern: string) =>
  pattern.endsWith('*') ? place.startsWith(pattern.slice(0, -1)) : place === pattern

test.each([...agents])('%s: every text is in an event, or its place was reviewed', (agent, recordings) => {
  const patterns = Object.values(reviewed[agent] ?? {}).flat()
  const found = recordings.flatMap((one) => [...unshownTexts(one, decodeFixture(one).entries)])
  expect(found.filter(([place]) => !patterns.some(isAt(place)))).toEqual([])
  const places = found.map(([place]) => place)
  expect(patterns.filter((pattern) => !places.some((place) => isAt(place)(pattern)))).toEqual([])
})

test.each([...agents])('%s: a text that its events lack is found', (_, recordings) => {
  const [one] = recordings.filter(({ scenario }) => /text|tool|bash/.test(scenario))
  if (!one) throw new Error('there is no recording with a text')
  const { entries } = decodeFixture(one)
  const without = entries.filter(({ event }) => !/^(?:text|turn|tool)\./.test(event.type))
  expect(unshownTexts(one, without).size).toBeGreaterThan(unshownTexts(one, entries).size)
})
