import { describe, expect, test } from 'vitest'
import type { Agent, Decoded } from '../../../src/agents/agent.ts'
import { agents } from '../../../src/agents/index.ts'
import { jsonFrame } from '../../../src/framing/frame.ts'
import { type Command, DEFAULT_POLICY, type Question, type RequestOpened } from '../../../src/model/index.ts'
import { agentAt } from '../../../src/sessions/process/recipes.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { fixtures } from '../../agents/fixtures.ts'
import { house } from '../house.ts'
import { ASKING, ASKING_AGENTS, textOf } from '../turns/asking-agents.ts'

type Asking = (typeof ASKING)[number]

/** A known agent, and a way to encode commands that no session lets through. */
function bare(id: string): { agent: Agent; encode(command: unknown): Decoded } {
  const agent = ASKING_AGENTS.find((one) => one.id === id)
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
  const { open, driver, store } = house(memoryStore(), { known: [agent] })
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

/** OpenCode 2 at the first request of a recording, and its encoder. */
function recorded(scenario: string) {
  const opencode = agents.find(({ id }) => id === 'opencode')
  const codec = opencode && agentAt(opencode, '2.1.3').launches.live?.codec
  const lines = fixtures.find((one) => one.program === 'opencode2' && one.scenario === scenario)?.lines
  if (!codec || !lines) throw new Error(`there is no recording ${scenario}`)
  const state = codec.initial({ launch: 'live', cwd: '/', policy: DEFAULT_POLICY, options: {}, epoch: 1 })
  let asked: RequestOpened | undefined
  for (const line of lines) {
    const { stream, msg } = line.trim() === '' ? {} : JSON.parse(line)
    if (asked || stream !== 'sse' || msg?.id === undefined) continue
    const { emitted } = codec.decode(state, jsonFrame('sse', JSON.stringify(msg)))
    asked = emitted.find((one): one is RequestOpened => one.type === 'request.opened')
  }
  const { requestId = '', questions = [] } = asked ?? {}
  return { encode: (command: unknown) => codec.encode(state, command as Command), requestId, questions }
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

  test.each([
    ['permission', 'perm_bash_once', 'allow', '"once"'],
    ['question', 'question_answer', 'answered', '"answer"'],
  ])('of OpenCode 2 approves a %s with the one decision that fits', (_name, scenario, fitting, approval) => {
    const given = (decision: unknown) => {
      const { encode, requestId, questions } = recorded(scenario)
      const { writes, emitted } = encode({
        type: 'answer',
        requestId,
        decision,
        answers: answersTo(questions),
      })
      const approvals = writes.map(textOf).filter((text) => text.includes(approval)).length
      return { approvals, isReported: JSON.stringify(emitted).includes('answer_invalid') }
    }
    expect(given(fitting)).toEqual({ approvals: 1, isReported: false })
    expect(given('deny')).toEqual({ approvals: 0, isReported: false })
    expect(given(fitting === 'allow' ? 'answered' : 'allow').approvals).toBe(0)
    for (const none of NO_DECISIONS) expect(given(none)).toEqual({ approvals: 0, isReported: true })
  })
})
