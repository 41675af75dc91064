import type { Scenario } from '../scenario.ts'
import { eventsOf, type FinishedTurn, must, type Stage } from '../stage.ts'
import { completes } from './text.ts'

/** Everything until the end of the turn and of its sub-agents: one in the background may end later. */
async function delegates(stage: Stage): Promise<Pick<FinishedTurn, 'events'>> {
  const told = await stage.turn(await stage.session(), 'delegates')
  completes(told, 'The sub-agent is done.')
  const inner = stage.model.requests.some(({ place }) => place?.scenario === 'delegated')
  must(inner, 'the model was not asked to do the inner task')
  const events = () => stage.logs.flat().map(({ event }) => event)
  const ends = () => eventsOf(events(), 'subagent.completed').map(({ id }) => id)
  await stage.until(() => eventsOf(events(), 'subagent.started').every(({ id }) => ends().includes(id)))
  return { events: events() }
}

export const SUBAGENTS: readonly Scenario[] = [
  {
    id: 'subagent',
    title: 'Sub-agents',
    effect: 'the model ran the inner task; its start, end and call',
    inShort: 'Sub-agents',
    capability: 'subagents',
    async play(stage) {
      const { events } = await delegates(stage)
      const started = eventsOf(events, 'subagent.started')
      must(started.length === 1, `${started.length} sub-agents were reported`)
      const ended = eventsOf(events, 'subagent.completed')
      const isOne = ended.length === 1 && ended[0]?.id === started[0]?.id
      must(isOne && ended[0]?.status === 'success', `its end is ${JSON.stringify(ended)}`)
      // Not every program reports the call; one that does names it.
      // A task call after the start is about a running sub-agent: Codex waits for it by such a call.
      const before = new Set(
        events.slice(
          0,
          events.findIndex(({ type }) => type === 'subagent.started'),
        ),
      )
      const [call] = eventsOf(events, 'tool.started').filter(
        (one) =>
          (one.kind === 'task' && before.has(one)) ||
          JSON.stringify(one.input ?? '').includes('SCENARIO:delegated'),
      )
      if (call) must(started[0]?.toolId === call.toolId, 'the call that started it is not named')
      must((call?.kind ?? 'task') === 'task', `the kind of the call that started it is ${call?.kind}`)
    },
  },
  {
    id: 'subagent-events',
    title: 'Events inside sub-agents',
    effect: 'the inner command ran; its events have the sub-agent as parent',
    async play(stage) {
      const { events } = await delegates(stage)
      const [subagent] = eventsOf(events, 'subagent.started')
      const calls = eventsOf(events, 'tool.started').filter(({ input, title }) =>
        JSON.stringify([input, title]).includes('inner-output'),
      )
      must(calls.length > 0, 'no event inside the sub-agent was reported')
      must(subagent !== undefined, 'its events are reported, and no sub-agent')
      must(calls.length === 1, `its call was reported ${calls.length} times`)
      must(calls[0]?.parent === subagent.id, `the parent of its call is ${calls[0]?.parent}`)
      const end = eventsOf(events, 'tool.completed').find(({ toolId }) => toolId === calls[0]?.toolId)
      must(end?.parent === subagent.id, `the parent of the end of its call is ${end?.parent}`)
      must(end?.output?.trim() === 'inner-output', `its output is ${JSON.stringify(end?.output)}`)
      const texts = eventsOf(events, 'text.completed').filter(({ text }) => text === 'The inner result.')
      const stray = texts.filter(({ parent }) => parent !== subagent.id)
      must(stray.length === 0, `the parent of its text is ${stray[0]?.parent}`)
      const { summary } = eventsOf(events, 'subagent.completed')[0] ?? {}
      const isReported = texts.length > 0 || summary === 'The inner result.'
      must(isReported, `its text is not reported, and its summary is ${JSON.stringify(summary)}`)
    },
  },
]
