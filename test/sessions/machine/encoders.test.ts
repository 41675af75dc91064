import { describe, expect, test } from 'vitest'
import type { Agent, Decoded } from '../../../src/agents/agent.ts'
import { agents } from '../../../src/agents/index.ts'
import type { Command, Question } from '../../../src/model/index.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { house } from '../house.ts'
import { ASKING, textOf } from '../turns/asking-agents.ts'

type Asking = (typeof ASKING)[number]

/** A known agent, and a way to encode commands that no session lets through. */
function bare(id: string): { agent: Agent; encode(command: unknown): Decoded } {
  const agent = agents.find((one) => one.id === id)
  const live = agent?.launches.live
  if (!agent || !live) throw new Error(`${id} has no live launch`)
  const { codec } = live
  let state: unknown
  const initial: typeof codec.initial = (start) => {
    state = codec.initial(start)
    return state
  }
  const spied = { ...agent, launches: { ...agent.launches, live: { ...live, codec: { ...codec, initial } } } }
  return { agent: spied, encode: (command) => codec.encode(state, command as Command) }
}

/** An agent that waits for the answer to one request, and its encoder. */
async function waiting({ agent: id, script }: Asking, { ask }: Asking['permission']) {
  const { agent, encode } = bare(id)
  const { open, driver, store } = house(memoryStore(), 10, undefined, [agent])
  let asking: ReturnType<typeof script> | undefined
  driver.onStart = (run) => {
    asking = script(run)
  }
  const session = await open({}, { agent: id })
  await session.prompt('go')
  await expect.poll(() => asking?.prompts, { interval: 1 }).toBeGreaterThan(0)
  const run = await driver.run()
  asking?.begin(1)
  ask(run, 1, 'rm x')
  if (id === 'opencode') run.sayOn('sse', { type: 'server.heartbeat', properties: {} })
  const opened = async () => (await store.record(session.id))?.requests[0]
  await expect.poll(opened, { interval: 1 }).toBeDefined()
  return {
    encode,
    requestId: (await opened())?.requestId ?? '',
    questions: (await opened())?.questions ?? [],
  }
}

const NO_DECISIONS = [undefined, null, '', 'yes', 'DENY', 'Allow', 'allow ', true, 1, ['allow'], {}]
const ALL = ASKING.flatMap((agent) =>
  Object.entries({ permission: agent.permission, ...agent.others }).map(
    ([name, form]) => [`${agent.agent} ${name}`, agent, form] as const,
  ),
)

const answersTo = (questions: readonly Question[]) =>
  Object.fromEntries(questions.map(({ id, options }) => [id, [options[0]?.label ?? 'yes']]))

describe('an encoder', () => {
  test.each(ALL)('%s denies a decision that does not exist, and reports that', async (_name, agent, form) => {
    for (const decision of NO_DECISIONS) {
      const { encode, requestId, questions } = await waiting(agent, form)
      const answers = answersTo(questions)
      const step = encode({ type: 'answer', requestId, decision, answers, scope: 'once' })
      expect(step.refused).toBeUndefined()
      expect(step.writes.map(textOf).filter(form.approves)).toEqual([])
      expect(step.writes).not.toEqual([])
      expect(step.emitted).toContainEqual(
        expect.objectContaining({ type: 'notice.raised', level: 'error', code: 'answer_invalid' }),
      )
    }
  })

  test.each(ALL)(
    '%s approves with the decision that fits, and not with the other',
    async (_name, agent, form) => {
      const given = async (decide: (isQuestion: boolean) => string) => {
        const { encode, requestId, questions } = await waiting(agent, form)
        const decision = decide(questions.length > 0)
        const { writes } = encode({ type: 'answer', requestId, decision, answers: answersTo(questions) })
        return writes.map(textOf).filter(form.approves).length
      }
      expect(await given((isQuestion) => (isQuestion ? 'allow' : 'answered'))).toBe(0)
      expect(await given((isQuestion) => (isQuestion ? 'answered' : 'allow'))).toBe(1)
    },
  )
})
