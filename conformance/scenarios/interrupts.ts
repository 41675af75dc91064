import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { AgentSession } from '../../src/index.ts'
import { mustRemember } from '../memory.ts'
import type { Scenario } from '../scenario.ts'
import { scriptedText } from '../scripts.ts'
import { eventsOf, type FinishedTurn, must, type Stage } from '../stage.ts'
import { processesIn } from '../traces.ts'
import { completes, HELLO } from './text.ts'

const LONG = scriptedText('long')
const LATEST_MS = 3000
const RUNNING_MS = 1000
const MOMENTS = 3

/** The model has started to answer. */
export async function answering(stage: Stage, script: string): Promise<void> {
  await stage.model.waitFor(({ place }) => place?.scenario === script, stage.signal)
}

/** The turn was interrupted, and its text is a prefix of the text of the model. */
function mustBeInterrupted({ outcome, events, error }: FinishedTurn, moment = ''): void {
  must(outcome === 'interrupted', `the outcome is ${outcome}${moment} (${error?.message ?? 'no error'})`)
  const text = eventsOf(events, 'text.delta').map((delta) => delta.text)
  must(LONG.startsWith(text.join('')), `the text is ${JSON.stringify(text.join('').slice(0, 200))}${moment}`)
}

/** Waits for the first deltas, from programs that stream. */
export async function isStreaming(stage: Stage, session: AgentSession, deltas = 1): Promise<void> {
  await answering(stage, 'long')
  let seen = 0
  for await (const { event } of session.entries({ signal: stage.signal })) {
    if (event.type === 'session.started' && !event.capabilities.deltas) return
    if (event.type === 'text.delta') seen += 1
    if (seen === deltas) return
  }
}

/** Interrupts the first answer of a session, then plays another turn in it. */
async function interruptsText(stage: Stage): Promise<void> {
  const session = await stage.session()
  const turn = stage.turn(session, 'long')
  await isStreaming(stage, session)
  await session.interrupt()
  mustBeInterrupted(await turn)
  completes(await stage.turn(session, 'text'), HELLO)
}

/** Interrupts a turn after a random time, then plays another one. */
async function interruptsAtRandom(stage: Stage, session: AgentSession): Promise<void> {
  const after = Math.floor(stage.random() * LATEST_MS)
  const turn = stage.turn(session, 'long')
  await setTimeout(after, undefined, { signal: stage.signal })
  await session.interrupt()
  mustBeInterrupted(await turn, ` after an interrupt at ${after} ms`)
  completes(await stage.turn(session, 'text'), HELLO)
}

export const INTERRUPTS: readonly Scenario[] = [
  {
    id: 'interrupt-text',
    title: 'Interrupt an answer',
    effect: 'the text is a prefix; the next turn is whole',
    inShort: 'Interrupt and continue',
    inCi: true,
    play: interruptsText,
  },
  {
    id: 'interrupt-memory',
    title: 'Context kept after an interrupt',
    effect: 'the model received the interrupted prompt',
    inShort: 'Context kept after an interrupt',
    async play(stage) {
      await interruptsText(stage)
      mustRemember(stage, ['SCENARIO:long'])
    },
  },
  {
    id: 'interrupt-tool',
    title: 'Interrupt a running command',
    effect: 'the command is gone, and its call is no success',
    async play(stage) {
      const session = await stage.session()
      const turn = stage.turn(session, 'hang')
      await stage.appears(join(stage.cwd, 'running'))
      const commands = () => processesIn(stage.cwd).filter(({ command }) => command.startsWith('tail -f'))
      await stage.until(() => commands().length > 0)
      // Some programs end a command that has just begun, and no other.
      await setTimeout(RUNNING_MS, undefined, { signal: stage.signal })
      await session.interrupt()
      const { outcome, events } = await turn
      must(outcome === 'interrupted', `the outcome is ${outcome}`)
      const [call] = eventsOf(events, 'tool.completed')
      must(call?.status !== 'success', 'the interrupted call is a success')
      // The interrupt settles after the programs of the turn have ended.
      must(commands().length === 0, `the command still runs: ${commands()[0]?.command}`)
      completes(await stage.turn(session, 'text'), HELLO)
    },
  },
  {
    id: 'interrupt-random',
    title: 'Interrupts at random moments',
    effect: 'the text is a prefix; the model received every prompt',
    async play(stage) {
      // The first one may come before the program is up.
      await interruptsAtRandom(stage, await stage.session())
      const session = await stage.session()
      completes(await stage.turn(session, 'thinking'), 'It is 42.')
      for (let count = 1; count < MOMENTS; count++) {
        await interruptsAtRandom(stage, session)
        mustRemember(stage, ['It is 42.'])
      }
    },
  },
]
