import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { BoardAdapter, ClaudeAdapter, CodexAdapter, GeminiAdapter } from '../../src/client/adapters/index.ts'
import type { AgentEvent, ProtocolAdapter } from '../../src/client/index.ts'
import { collect } from './scene.ts'

const adapt = (adapter: ProtocolAdapter, lines: Iterable<unknown>) => collect(adapter.adaptEvents(lines))
/** The documented events. Entries of the log are between them. */
const documented = (events: readonly AgentEvent[]) => events.filter(({ type }) => type !== 'logEntry')
const types = (events: readonly AgentEvent[]) => documented(events).map(({ type }) => type)
const usages = (events: readonly AgentEvent[]) =>
  events.flatMap((event) =>
    event.type === 'turnCompleted' ? [[event.usage.inputTokens, event.usage.outputTokens]] : [],
  )

const THREAD = { type: 'thread.started', thread_id: 'sess_1' }
const BEGIN = { type: 'turn.started' }
const FAILED = { type: 'turn.failed', error: { message: 'no such model' } }
const message = (text: string) => ({
  type: 'item.completed',
  item: { id: text, type: 'agent_message', text },
})
const completed = (input_tokens: number, output_tokens: number) => ({
  type: 'turn.completed',
  usage: { input_tokens, output_tokens },
})

const INIT = { type: 'system', subtype: 'init', session_id: 'c-1', model: 'm' }
const says = (id: string) => ({
  type: 'assistant',
  session_id: 'c-1',
  message: { id, role: 'assistant', content: [{ type: 'text', text: id }] },
})
const result = (uuid: string, input_tokens: number, more: object = {}) => ({
  type: 'result',
  subtype: 'success',
  is_error: false,
  session_id: 'c-1',
  uuid,
  result: uuid,
  usage: { input_tokens, output_tokens: 1 },
  ...more,
})

const GEMINI = { type: 'init', session_id: 'g-1', model: 'm' }
const content = (value: string) => ({ type: 'content', value })
const success = (input_tokens: number) => ({
  type: 'result',
  status: 'success',
  stats: { input_tokens, output_tokens: 1, total_tokens: input_tokens + 1 },
})

/** The events of lines whose source stays open, up to those that the last line causes. */
async function live(adapter: ProtocolAdapter, lines: readonly unknown[]): Promise<AgentEvent[]> {
  const seen: AgentEvent[] = []
  const drained = Promise.withResolvers<void>()
  async function* open() {
    yield* lines
    drained.resolve()
    await new Promise(() => undefined)
  }
  const events = adapter.adaptEvents(open())[Symbol.asyncIterator]()
  const read = async (): Promise<void> => {
    const { value } = await events.next()
    if (value) seen.push(value)
    return read()
  }
  await Promise.race([read(), drained.promise])
  return seen
}

describe('a turn ends at its own line, while the source stays open', () => {
  it.each([
    ['codex', new CodexAdapter(), [THREAD, BEGIN, message('a'), completed(1, 2)], 'turnCompleted'],
    ['codex, which failed', new CodexAdapter(), [THREAD, BEGIN, FAILED], 'sessionEnded'],
    ['claude', new ClaudeAdapter(), [INIT, says('a'), result('a', 1)], 'turnCompleted'],
    ['gemini', new GeminiAdapter(), [GEMINI, content('a'), success(1)], 'sessionEnded'],
    [
      'gemini, which failed',
      new GeminiAdapter(),
      [content('a'), { type: 'error', status: 'error', error: { code: 'INVALID_CHUNK', message: 'cut' } }],
      'sessionEnded',
    ],
    [
      'a board',
      new BoardAdapter(),
      [
        { type: 'log', payload: { line: 'a' } },
        { type: 'error', payload: { message: 'denied' } },
      ],
      'sessionEnded',
    ],
    [
      'a board that was cancelled',
      new BoardAdapter(),
      [
        { type: 'log', payload: { line: 'a' } },
        { type: 'cancelled', payload: {} },
      ],
      'sessionEnded',
    ],
  ])('%s', async (_, adapter, lines, last) => {
    expect((await live(adapter, lines)).at(-1)?.type).toBe(last)
  })
})

describe('two turns of one source stay two', () => {
  it.each([
    [
      'codex',
      new CodexAdapter(),
      [THREAD, BEGIN, message('a'), completed(100, 50), BEGIN, message('b'), completed(10, 5)],
    ],
    ['claude', new ClaudeAdapter(), [INIT, says('a'), result('a', 100), INIT, says('b'), result('b', 10)]],
  ])('%s: in one session', async (_, adapter, lines) => {
    const events = await adapt(adapter, lines)
    expect(types(events)).toEqual([
      'sessionStarted',
      ...['turnStarted', 'textChunk', 'turnCompleted'],
      ...['turnStarted', 'textChunk', 'turnCompleted'],
      'sessionEnded',
    ])
    expect(usages(events).map(([input]) => input)).toEqual([100, 10])
    expect(documented(events).map((event) => ('turnNumber' in event ? event.turnNumber : 0))).toEqual([
      0, 1, 0, 1, 2, 0, 2, 0,
    ])
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
  })

  it('gemini: each result ends the session', async () => {
    const lines = [GEMINI, content('a'), success(100), GEMINI, content('b'), success(10)]
    const events = await adapt(new GeminiAdapter(), lines)
    expect(types(events).filter((type) => type !== 'textChunk')).toEqual([
      ...['sessionStarted', 'turnStarted', 'turnCompleted', 'sessionEnded'],
      ...['sessionStarted', 'turnStarted', 'turnCompleted', 'sessionEnded'],
    ])
    expect(usages(events)).toEqual([
      [100, 1],
      [10, 1],
    ])
  })

  it('codex: a resumed process counts the earlier turns again, and they are subtracted', async () => {
    const lines = [THREAD, BEGIN, message('a'), completed(100, 50), THREAD, BEGIN, completed(130, 60)]
    expect(usages(await adapt(new CodexAdapter(), lines))).toEqual([
      [100, 50],
      [30, 10],
    ])
  })

  it('codex: calls of two turns with the same native id are two calls', async () => {
    const call = { id: 'item_0', type: 'command_execution', command: 'ls', exit_code: 0, status: 'completed' }
    const turn = [BEGIN, { type: 'item.completed', item: call }, completed(1, 1)]
    const events = await adapt(new CodexAdapter(), [THREAD, ...turn, ...turn])
    const ids = events.flatMap((event) => (event.type === 'toolStarted' ? [event.toolId] : []))
    expect(new Set(ids).size).toBe(2)
  })
})

describe('a failed turn before a good one', () => {
  it.each([
    ['codex', new CodexAdapter(), [THREAD, BEGIN, FAILED, BEGIN, message('a'), completed(1, 1)]],
    [
      'claude',
      new ClaudeAdapter(),
      [
        INIT,
        result('a', 1, { is_error: true, result: 'overloaded', api_error_status: 529 }),
        says('b'),
        result('b', 1),
      ],
    ],
    [
      'gemini',
      new GeminiAdapter(),
      [content('a'), { type: 'result', status: 'error' }, content('b'), success(1)],
    ],
    [
      'a board',
      new BoardAdapter(),
      [
        { type: 'error', payload: { message: 'denied' } },
        { type: 'log', payload: { line: 'b' } },
      ],
    ],
  ])('%s: is reported as failed, and the good one as completed', async (_, adapter, lines) => {
    const events = await adapt(adapter, lines)
    expect(types(events).filter((type) => type !== 'textChunk' && type !== 'error')).toEqual([
      ...['sessionStarted', 'turnStarted', 'turnFailed', 'sessionEnded'],
      ...['sessionStarted', 'turnStarted', 'turnCompleted', 'sessionEnded'],
    ])
    const reasons = events.flatMap((event) => (event.type === 'sessionEnded' ? [event.reason] : []))
    expect(reasons).toEqual(['failed', 'completed'])
  })
})

describe('lines after the end of a turn', () => {
  const BROKEN = { type: 'error', message: 'the thread is broken' }

  it('of an error end the session as failed, at once', async () => {
    const events = await live(new CodexAdapter(), [THREAD, BEGIN, message('a'), completed(1, 1), BROKEN])
    expect(types(events)).toEqual([
      ...['sessionStarted', 'turnStarted', 'textChunk', 'turnCompleted', 'sessionEnded'],
    ])
    expect(events.at(-1)).toMatchObject({ reason: 'failed', error: BROKEN.message })
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
  })

  it('of an error are followed by another session, if another turn follows', async () => {
    const lines = [THREAD, BEGIN, completed(1, 1), BROKEN, BEGIN, message('b'), completed(1, 1)]
    expect(types(await adapt(new CodexAdapter(), lines))).toEqual([
      ...['sessionStarted', 'turnStarted', 'turnCompleted', 'sessionEnded'],
      ...['sessionStarted', 'turnStarted', 'textChunk', 'turnCompleted', 'sessionEnded'],
    ])
  })

  it('of an error after a failed turn repeat nothing', async () => {
    const events = await adapt(new CodexAdapter(), [THREAD, BEGIN, FAILED, BROKEN])
    expect(types(events)).toEqual(['sessionStarted', 'turnStarted', 'turnFailed', 'sessionEnded'])
  })

  it('of a hook start no turn', async () => {
    const hook = { type: 'system', subtype: 'hook_response', hook_id: 'h', hook_name: 'SessionEnd:other' }
    const events = await adapt(new ClaudeAdapter(), [INIT, says('a'), result('a', 1), hook])
    expect(types(events)).toEqual([
      ...['sessionStarted', 'turnStarted', 'textChunk', 'turnCompleted', 'sessionEnded'],
    ])
  })

  it.each(['bg_bash', 'subagent_bg'])('of background work belong to the turn: %s', async (name) => {
    const text = readFileSync(`src/agents/claude/fixtures/claude/${name}/stdout.jsonl`, 'utf8')
    const events = await adapt(new ClaudeAdapter(), text.trim().split('\n'))
    expect(types(events).filter((type) => type === 'turnCompleted')).toHaveLength(1)
  })
})
