import { demo } from '../../src/agents/demo/agent.ts'
import { echo } from '../../src/agents/echo/agent.ts'
import { agents } from '../../src/agents/index.ts'
import type { RequestOpened } from '../../src/model/events/request.ts'
import type { AnswerCommand, Entry } from '../../src/model/index.ts'
import { decodeFixture, type Fixture, fixtures } from '../agents/fixtures.ts'
import { Stage } from '../agents/stage.ts'
import { entriesOf } from './entries.ts'

/** The log of one session of a real agent or a built-in one. */
interface Play {
  name: string
  agent: string
  entries: readonly Entry[]
}

/** The recordings that a registered agent can read. */
export const recordings: readonly Fixture[] = fixtures.filter(({ agent, launch }) =>
  agents.some(({ id, launches }) => id === agent && launches[launch]),
)

/** Every recording, and a session of each built-in agent, which have none. */
export const plays: readonly Play[] = [
  ...recordings.map((fixture) => ({
    name: fixture.name,
    agent: fixture.agent,
    entries: decodeFixture(fixture).entries,
  })),
  ...[demo, echo].map((agent) => {
    const stage = new Stage(agent)
    for (const prompt of ['go', 'and again']) {
      stage.prompt(prompt)
      stage.play(agree)
    }
    return { name: agent.id, agent: agent.id, entries: entriesOf(...stage.events) }
  }),
]

function agree({ requestId, questions }: RequestOpened): AnswerCommand {
  if (!questions) return { type: 'answer', requestId, decision: 'allow', scope: 'once' }
  const answers = Object.fromEntries(questions.map(({ id, options }) => [id, [options[0]?.label ?? 'yes']]))
  return { type: 'answer', requestId, decision: 'answered', answers }
}

/** Any of the recordings, cut after any byte. */
export function cutRecording(fixture: Fixture, at: number): readonly Entry[] {
  const bytes = new TextEncoder().encode(fixture.lines.join(''))
  return decodeFixture(fixture, [bytes.subarray(0, at % (bytes.length + 1))]).entries
}
