import { describe, expect, test } from 'vitest'
import type { Start } from '../../src/agents/agent.ts'
import { demo } from '../../src/agents/demo/agent.ts'
import { DemoLine } from '../../src/agents/demo/native.ts'
import { SCENES } from '../../src/agents/demo/script.ts'
import { jsonFrame } from '../../src/framing/frame.ts'
import type { RequestOpened } from '../../src/model/events/request.ts'
import {
  type AnswerCommand,
  addUsage,
  type Cause,
  type Command,
  type Outcome,
  Usage,
} from '../../src/model/index.ts'
import { leftOpen, Stage } from './stage.ts'

/** What to say to each request in turn: the id of an option, or the label of an answer. */
type Choices = readonly string[]

/** Every way through the story. */
const PATHS: readonly Choices[] = [
  ['once', 'Fix it too', 'once'],
  ['once', 'Fix it too', 'session'],
  ['once', 'Fix it too', 'deny'],
  ['once', 'Only report it'],
  ['once', 'something nobody offered'],
  ['session', 'Fix it too'],
  ['session', 'Only report it'],
  ['deny', 'Show me the patch'],
  ['deny', 'Stop here'],
]

function answer(request: RequestOpened, choice: string): AnswerCommand {
  const { requestId, questions } = request
  const [question] = questions ?? []
  if (question) {
    return { type: 'answer', requestId, decision: 'answered', answers: { [question.id]: [choice] } }
  }
  const option = request.options.find(({ id }) => id === choice)
  if (!option) throw new Error(`${choice} is not offered`)
  return { type: 'answer', requestId, decision: option.effect, scope: option.scope }
}

function begin(): Stage {
  const stage = new Stage(demo)
  stage.prompt('go')
  return stage
}

function follow(stage: Stage, choices: Choices): Stage {
  const left = [...choices]
  stage.play((request) => {
    const choice = left.shift()
    return choice === undefined ? undefined : answer(request, choice)
  })
  expect(left).toEqual([])
  return stage
}

const perform = (choices: Choices) => follow(begin(), choices)

/** Ends the process after each line in turn, and tells the outcomes. */
function cutAnywhere(path: Choices, cause: Cause): Set<Outcome | undefined> {
  const lines = perform(path).conversation.coverage.frames
  const outcomes = new Set<Outcome | undefined>()
  for (let cut = 0; cut < lines; cut++) {
    const stage = begin()
    const left = [...path]
    for (let played = 0; played < cut; played++) {
      if (stage.step()) continue
      const request = stage.only('request.opened').at(-1)
      const choice = left.shift()
      if (request && choice !== undefined) stage.answer(answer(request, choice))
      stage.step()
    }
    expect(stage.conversation.coverage.frames).toBe(cut)
    stage.exit(cause, { signal: 'SIGTERM' })
    expect(leftOpen(stage.events)).toEqual([])
    expect(stage.only('turn.completed')).toHaveLength(1)
    outcomes.add(stage.only('turn.completed')[0]?.outcome)
  }
  return outcomes
}

describe.each(PATHS.map((path) => [path.join(' → '), path] as const))('%s', (_, path) => {
  test('ends well, with everything settled and every line understood', () => {
    const stage = perform(path)
    expect(leftOpen(stage.events)).toEqual([])
    expect(stage.only('turn.completed')).toMatchObject([{ turn: 1, outcome: 'completed' }])
    expect(stage.events.at(-1)).toMatchObject({ type: 'turn.completed' })
    const { frames, mapped } = stage.conversation.coverage
    expect(mapped).toBe(frames)
  })

  test('its result is its last message', () => {
    const stage = perform(path)
    expect(stage.only('turn.completed')[0]?.result).toBe(stage.only('text.completed').at(-1)?.text)
  })

  test('the total is what its steps and its sub-agent used', () => {
    const stage = perform(path)
    const reported = stage.only('usage.reported')
    const counts = reported.map((event) => Usage.strip().parse(event))
    const parts = counts.slice(0, -1).reduce(addUsage, {})
    expect(reported.at(-1)).toMatchObject({ scope: 'turn', ...parts })
    expect(reported.slice(0, -1).every(({ scope }) => scope !== 'turn')).toBe(true)
    expect(stage.only('turn.completed')[0]?.usage).toEqual(parts)
    expect(parts.costUsd).toBeGreaterThan(0)
  })

  test('cut after any line, nothing stays open and the turn has one end', () => {
    expect(cutAnywhere(path, 'exit')).toEqual(new Set(['crashed']))
  })
})

test.each([
  ['interrupt', 'interrupted'],
  ['drain', 'interrupted'],
  ['timeout', 'timeout'],
  ['lost', 'lost'],
] as const)('cut by %s, its outcome is %s wherever it was', (cause, outcome) => {
  expect(cutAnywhere(['once', 'Fix it too', 'once'], cause)).toEqual(new Set([outcome]))
})

test('without answers it takes about a minute', () => {
  const { playTime } = perform(['once', 'Fix it too', 'once'])
  expect(playTime).toBeGreaterThan(50_000)
  expect(playTime).toBeLessThan(65_000)
})

test('it shows everything there is to show', () => {
  const types = new Set(perform(['once', 'Fix it too', 'once']).events.map(({ type }) => type))
  for (const type of [
    'session.updated',
    'thinking.delta',
    'thinking.completed',
    'text.delta',
    'text.completed',
    'plan.updated',
    'tool.started',
    'tool.completed',
    'file.changed',
    'request.opened',
    'request.resolved',
    'subagent.started',
    'subagent.completed',
    'usage.reported',
  ] as const) {
    expect(types).toContain(type)
  }
})

test('the tests fail before the fix and pass after it', () => {
  const stage = perform(['once', 'Fix it too', 'once'])
  const runs = stage.only('tool.completed').filter(({ name }) => name === 'Bash')
  expect(runs.map(({ status, exitCode }) => [status, exitCode])).toEqual([
    ['error', 1],
    ['success', 0],
    ['success', 0],
  ])
})

test('each diff is the difference between before and after', () => {
  for (const change of perform(['once', 'Fix it too', 'once']).only('file.changed')) {
    const lines = change.diff?.split('\n').filter((line) => !/^(---|\+\+\+|@@)/.test(line)) ?? []
    const side = (sign: '-' | '+') =>
      lines.filter((line) => line.startsWith(' ') || line.startsWith(sign)).map((line) => line.slice(1))
    expect(change.before).toContain(side('-').join('\n'))
    expect(change.after).toContain(side('+').join('\n'))
    expect(change.before).not.toBe(change.after)
  }
})

test("a sub-agent's tools and messages have it as their parent", () => {
  const stage = perform(['once', 'Only report it'])
  const [subagent] = stage.only('subagent.started')
  const tools = stage.only('tool.started').filter(({ parent }) => parent === subagent?.id)
  expect(tools.map(({ name }) => name)).toEqual(['Grep', 'Read'])
  expect(stage.only('text.completed').filter(({ parent }) => parent === subagent?.id)).toHaveLength(1)
  expect(stage.only('tool.started').find(({ toolId }) => toolId === subagent?.toolId)?.kind).toBe('task')
})

describe('the answers decide what it does', () => {
  const changed = (path: Choices) =>
    perform(path)
      .only('file.changed')
      .map((change) => change.path)

  test('a fix that is allowed is made, a question answered otherwise leaves the caller alone', () => {
    expect(changed(['once', 'Fix it too', 'once'])).toEqual(['src/paginate.ts', 'src/routes/feed.ts'])
    expect(changed(['once', 'Fix it too', 'deny'])).toEqual(['src/paginate.ts'])
    expect(changed(['once', 'Only report it'])).toEqual(['src/paginate.ts'])
    expect(changed(['deny', 'Show me the patch'])).toEqual([])
  })

  test('a single approval is requested again, an approval for the session is not', () => {
    const asked = (path: Choices) => perform(path).only('request.opened').length
    expect(asked(['once', 'Fix it too', 'once'])).toBe(3)
    expect(asked(['session', 'Fix it too'])).toBe(2)
  })

  test('a no of a person ends in completed', () => {
    const stage = perform(['deny', 'Stop here'])
    expect(stage.only('tool.completed').at(-1)).toMatchObject({ status: 'denied', deniedBy: 'person' })
    expect(stage.only('turn.completed')).toMatchObject([{ outcome: 'completed', denials: 1 }])
  })

  test('a no of the policy ends in denied', () => {
    const stage = begin()
    stage.play(({ requestId }) => ({ type: 'answer', requestId, decision: 'deny', by: 'policy' }))
    expect(leftOpen(stage.events)).toEqual([])
    expect(stage.only('turn.completed')).toMatchObject([{ outcome: 'denied', denials: 1 }])
  })

  test('a no that stops the turn settles the call as denied', () => {
    const stage = begin()
    stage.play(({ requestId }) => ({ type: 'answer', requestId, decision: 'deny', interrupt: true }))
    expect(stage.only('tool.completed').at(-1)).toMatchObject({ status: 'denied', settled: true })
    expect(stage.only('turn.completed')).toMatchObject([{ outcome: 'interrupted' }])
    expect(leftOpen(stage.events)).toEqual([])
  })

  test('an answer to nothing is refused', () => {
    const { refused } = begin().command({ type: 'answer', requestId: 'e1.r1.edit', decision: 'allow' })
    expect(refused).toMatchObject({ code: 'request_not_found' })
  })
})

test('an interrupt ends the turn immediately, and scheduled lines emit nothing', () => {
  const stage = begin()
  for (let played = 0; played < 10; played++) stage.step()
  stage.command({ type: 'interrupt' })
  const { length } = stage.events
  expect(stage.only('turn.completed')).toMatchObject([{ outcome: 'interrupted' }])
  expect(leftOpen(stage.events)).toEqual([])
  while (stage.step());
  expect(stage.events).toHaveLength(length)
  expect(stage.conversation.coverage.frames).toBeGreaterThan(10)
  expect(stage.conversation.coverage.mapped).toBe(stage.conversation.coverage.frames)
})

test('lines of an interrupted turn do not count for the next', () => {
  const stage = begin()
  stage.step()
  stage.command({ type: 'interrupt' })
  stage.prompt('and now?')
  stage.play()
  expect(stage.only('tool.started')).toEqual([])
  expect(stage.only('turn.completed').map(({ outcome }) => outcome)).toEqual(['interrupted', 'completed'])
})

test('later prompts get a short answer, in this process and in the next', () => {
  const stage = perform(['once', 'Only report it'])
  stage.prompt('and now?')
  stage.play()
  stage.exit()
  stage.launch()
  stage.prompt('still there?')
  stage.play()
  const [, second, third] = stage.only('turn.completed')
  expect(second).toMatchObject({ turn: 2, outcome: 'completed' })
  expect(third).toMatchObject({ turn: 3, outcome: 'completed', result: second?.result })
  const ids = stage.only('text.completed').map(({ messageId }) => messageId)
  expect(new Set(ids).size).toBe(ids.length)
})

test('every scene is reachable and consists of lines that the codec knows', () => {
  const reached = new Set(['opening', 'again'])
  for (const scene of SCENES.values()) {
    for (const { line } of scene) {
      expect(DemoLine.safeParse(line).success).toBe(true)
      if (line.type === 'ask') reached.add(line.allow).add(line.deny)
      if (line.type !== 'question') continue
      for (const option of [...line.answers, { scene: line.otherwise }]) reached.add(option.scene)
    }
  }
  expect([...SCENES.keys()].sort()).toEqual([...reached].sort())
})

test('other lines are kept as unmapped or as plain output', () => {
  const stage = begin()
  for (const line of ['{"type":"applause","run":1}', '{"type":"said"}', '[]', 'not JSON']) {
    stage.conversation.frame(jsonFrame('stdout', line))
  }
  stage.conversation.frame({ stream: 'stdout', text: '', blob: { id: 'b1', bytes: 9 } })
  expect(stage.conversation.coverage).toEqual({
    frames: 5,
    mapped: 0,
    unmapped: 3,
    malformed: 1,
    oversized: 1,
  })
  expect(stage.only('native.unmapped').map(({ nativeType }) => nativeType)).toEqual([
    'applause',
    'said',
    'object',
    'oversized',
  ])
})

test.each<Command>([
  { type: 'steer', text: 'rather this' },
  { type: 'set_model', model: 'other' },
  { type: 'set_policy', mode: 'plan' },
  { type: 'set_policy', policy: { approval: 'ask', sandbox: 'none', tools: { denied: ['Edit'] } } },
])('$type is refused', (command) => {
  expect(begin().command(command).refused).toMatchObject({ code: 'unsupported_option' })
})

test('another policy is accepted: it is enforced outside of the script', () => {
  const policy = { approval: 'auto-all', sandbox: 'full-access' } as const
  expect(begin().command({ type: 'set_policy', policy }).refused).toBeUndefined()
})

test.each<[string, Partial<Start>]>([
  ['resume', { resume: 'earlier' }],
  ['tools', { policy: { approval: 'ask', sandbox: 'none', tools: { denied: ['Edit'] } } }],
  ['outputSchema', { options: { outputSchema: {} } }],
  ['images', { options: { images: [] } }],
  ['mcpServers', { options: { mcpServers: {} } }],
])('%s is refused before anything starts', (option, asked) => {
  const policy = { approval: 'ask', sandbox: 'none' } as const
  const start: Start = { launch: 'live', cwd: '/project', policy, options: {}, epoch: 1, ...asked }
  expect(() => demo.launches.live?.launch(start)).toThrow(`${option} is not supported by demo`)
})
