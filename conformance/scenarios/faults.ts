import { daemon, endsExchange } from '../../src/dialects/daemon.ts'
import type { Message } from '../../src/dialects/dialect.ts'
import { mustRemember } from '../memory.ts'
import type { Scenario } from '../scenario.ts'
import { eventsOf, type FinishedTurn, must, type Stage } from '../stage.ts'
import { processesOf } from '../traces.ts'
import { isStreaming } from './interrupts.ts'
import { completes, HELLO } from './text.ts'

/** A process that has ended by itself needs no signal. */
function end(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ESRCH')) throw thrown
  }
}

/** Ends the program during the first answer of a session, then plays another turn in it. */
async function killsFirstTurn(stage: Stage, signal: 'SIGTERM' | 'SIGKILL'): Promise<FinishedTurn> {
  const session = await stage.session()
  const turn = stage.turn(session, 'long')
  // Programs store a prompt some time after they start to answer; before that they lose it, and a notice says so.
  await isStreaming(stage, session, 20)
  const processes = processesOf(stage.cell)
  const own = processes.filter(({ parent }) => parent === process.pid)
  must(own.length === 1, `${own.length} processes were found`)
  // A crash ends all processes: one whose launcher alone is gone ends the turn itself.
  for (const { pid } of signal === 'SIGKILL' ? processes : own) end(pid, signal)
  const killed = await turn
  await stage.areGone(processes.map(({ pid }) => pid))
  stage.canResume()
  completes(await stage.turn(session, 'text'), HELLO)
  return killed
}

/** The message that ends the first turn in the daemon dialect. */
function daemonEnd({ logs }: Stage): Message | undefined {
  const state = daemon.initial({})
  const messages = (logs[0] ?? []).flatMap((entry) => daemon.project(state, entry))
  return messages.find(endsExchange)
}

export const FAULTS: readonly Scenario[] = [
  {
    id: 'unauthorized',
    title: 'Rejected API key',
    effect: 'the error code',
    async play(stage) {
      const { outcome, error } = await stage.turn(await stage.session(), 'unauthorized')
      must(outcome === 'failed', `the outcome is ${outcome}`)
      must(error?.code === 'authentication_failed', `the error is ${error?.code}: ${error?.message}`)
    },
  },
  {
    id: 'rate-limit',
    title: 'Retry after HTTP 429',
    effect: 'the model was asked again',
    async play(stage) {
      completes(await stage.turn(await stage.session(), 'after-429'), 'It worked after 429.')
    },
  },
  {
    id: 'retry',
    title: 'Retry after HTTP 500 and 529',
    effect: 'the model was asked again',
    async play(stage) {
      const session = await stage.session()
      for (const status of [500, 529]) {
        completes(await stage.turn(session, `after-${status}`), `It worked after ${status}.`)
      }
    },
  },
  {
    id: 'drop',
    title: 'Retry after a broken stream',
    effect: 'the model was asked again, and one text remains',
    inShort: 'Retry after a broken stream',
    capability: 'marksRetries',
    async play(stage) {
      const told = await stage.turn(await stage.session(), 'drop-once')
      completes(told, HELLO)
      const dropped = new Set(eventsOf(told.events, 'message.discarded').map(({ messageId }) => messageId))
      const kept = eventsOf(told.events, 'text.completed').filter(({ messageId }) => !dropped.has(messageId))
      must(kept.length === 1, `${kept.length} texts remain`)
    },
  },
  {
    id: 'sigterm',
    title: 'Terminated process',
    effect: 'the processes are gone; the next turn is whole',
    async play(stage) {
      const { outcome } = await killsFirstTurn(stage, 'SIGTERM')
      // A program that handles the signal may report the end itself.
      must(['crashed', 'failed', 'interrupted'].includes(outcome), `the outcome is ${outcome}`)
      const last = daemonEnd(stage)
      must(last?.type === 'interrupted', `the daemon dialect reports ${JSON.stringify(last)}`)
    },
  },
  {
    id: 'crash-memory',
    title: 'Context kept after a crash',
    effect: 'the model received the prompt of the killed turn',
    inShort: 'Context kept after a crash',
    async play(stage) {
      const { outcome } = await killsFirstTurn(stage, 'SIGKILL')
      must(outcome === 'crashed', `the outcome is ${outcome}`)
      mustRemember(stage, ['SCENARIO:long'])
    },
  },
]
