import type { Scenario } from '../scenario.ts'
import { eventsOf, must } from '../stage.ts'
import { processesOf } from '../traces.ts'
import { completes } from './text.ts'

const HELLO = 'Hello from the scripted model. This text comes in several pieces.'

export const FAULTS: readonly Scenario[] = [
  {
    id: 'unauthorized',
    title: 'A key that is refused is told as that',
    async play(stage) {
      const { outcome, error } = await stage.turn(await stage.session(), 'unauthorized')
      must(outcome === 'failed', `the outcome is ${outcome}`)
      must(error?.code === 'authentication_failed', `the error is ${error?.code}: ${error?.message}`)
    },
  },
  {
    id: 'rate-limit',
    title: 'Goes on after 429',
    async play(stage) {
      completes(await stage.turn(await stage.session(), 'after-429'), 'It worked after 429.')
    },
  },
  {
    id: 'retry',
    title: 'Goes on after 500 and 529',
    async play(stage) {
      const session = await stage.session()
      for (const status of [500, 529]) {
        completes(await stage.turn(session, `after-${status}`), `It worked after ${status}.`)
      }
    },
  },
  {
    id: 'drop',
    title: 'Recovers from a broken stream, and says nothing twice',
    inShort: 'Broken streams mended',
    capability: 'marksRetries',
    async play(stage) {
      const told = await stage.turn(await stage.session(), 'drop-once')
      completes(told, HELLO)
      const dropped = new Set(eventsOf(told.events, 'message.discarded').map(({ messageId }) => messageId))
      const kept = eventsOf(told.events, 'text.completed').filter(({ messageId }) => !dropped.has(messageId))
      must(kept.length === 1, `${kept.length} texts stand`)
    },
  },
  {
    id: 'sigterm',
    title: 'Ended from outside: told as that, and the next prompt works',
    async play(stage) {
      const session = await stage.session()
      const told = stage.turn(session, 'long')
      await stage.model.waitFor(({ place }) => place?.scenario === 'long', stage.signal)
      const [own] = processesOf(stage.cell).filter(({ parent }) => parent === process.pid)
      must(own !== undefined, 'there is no process')
      process.kill(own.pid, 'SIGTERM')
      const { outcome } = await told
      // One that has time for a last word may say itself that it was stopped.
      must(['crashed', 'failed', 'interrupted'].includes(outcome), `the outcome is ${outcome}`)
      await stage.areGone()
      await stage.canResume()
      completes(await stage.turn(session, 'text'), HELLO)
    },
  },
]
