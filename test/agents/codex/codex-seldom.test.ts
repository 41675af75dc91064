import { describe, expect, test } from 'vitest'
import { inTurn, item, notification, opened, turnCompleted, wire } from './codex-wire.ts'

describe('rare messages of the app-server', () => {
  test('a moved file keeps its diff without its new name, and a deleted one has its content', () => {
    const changes = [
      { path: 'a', kind: { type: 'update', move_path: 'b' }, diff: '@@ -1 +1 @@\n-x\n+y\n\n\nMoved to: b' },
      { path: 'c', kind: { type: 'delete' }, diff: 'gone\n' },
    ]
    const end = { type: 'fileChange', id: 'call-1', changes, status: 'completed' }
    const { emitted } = inTurn().hear(item('completed', end))
    expect(emitted.slice(1, 3)).toMatchObject([
      { change: 'renamed', path: 'b', from: 'a', diff: '@@ -1 +1 @@\n-x\n+y\n' },
      { change: 'deleted', path: 'c', before: 'gone\n' },
    ])
  })

  test('a total that is repeated after an interrupt counts no call twice', () => {
    const codec = inTurn()
    const last = { totalTokens: 15, inputTokens: 10, outputTokens: 5 }
    const report = notification('thread/tokenUsage/updated', { tokenUsage: { total: last, last } })
    expect(codec.hear(report).emitted).toHaveLength(1)
    expect(codec.hear(report).emitted).toEqual([])
    expect(codec.hear(turnCompleted('interrupted')).emitted).toMatchObject([
      { type: 'usage.reported', scope: 'turn', total: 15, source: 'computed' },
      { type: 'turn.verdict', evidence: 'aborted' },
    ])
  })

  test('late frames of a turn emit nothing', () => {
    const codec = inTurn()
    codec.hear(turnCompleted())
    expect(codec.hear(notification('item/agentMessage/delta', { itemId: 'm', delta: 'x' })).emitted).toEqual(
      [],
    )
    expect(codec.hear(item('completed', { type: 'agentMessage', id: 'm', text: 'x' })).emitted).toEqual([])
    expect(codec.hear(turnCompleted()).emitted).toEqual([])
    const plan = [{ step: 'a', status: 'pending' }]
    expect(codec.hear(notification('turn/plan/updated', { plan })).emitted).toEqual([])
  })

  test('a late retry discards nothing of the next turn', () => {
    const codec = inTurn()
    codec.hear(turnCompleted())
    codec.hear(notification('turn/started', { turn: { id: 'turn-2' } }))
    codec.hear(notification('item/agentMessage/delta', { turnId: 'turn-2', itemId: 'm', delta: 'x' }))
    const error = { message: 'Reconnecting... 1/5' }
    expect(codec.hear(notification('error', { error, willRetry: true })).emitted).toEqual([])
  })

  test('a failure of a new kind has the code of its status', () => {
    const error = { message: 'x', codexErrorInfo: { somethingNew: { httpStatusCode: 429 } } }
    expect(inTurn().hear(turnCompleted('failed', { error })).emitted).toMatchObject([
      { error: { code: 'rate_limited', native: 'somethingNew' } },
    ])
  })

  test('a turn without a prompt was started by the agent', () => {
    const { emitted } = opened().hear(notification('turn/started', { turn: { id: 'turn-9' } }))
    expect(emitted).toEqual([{ type: 'turn.started', origin: 'agent' }])
  })

  test('parts of a summary are parted by an empty line, and raw thoughts are a message of their own', () => {
    const codec = inTurn()
    const delta = (text: string) =>
      notification('item/reasoning/summaryTextDelta', { itemId: 'r', delta: text })
    const part = notification('item/reasoning/summaryPartAdded', { itemId: 'r' })
    const raw = notification('item/reasoning/textDelta', { itemId: 'r', delta: 'raw' })
    const emitted = [part, delta('one'), part, delta('two'), raw].flatMap((frame) => [
      ...codec.hear(frame).emitted,
    ])
    const whole = { type: 'reasoning', id: 'r', summary: ['one', 'two'], content: ['raw'] }
    expect([...emitted, ...codec.hear(item('completed', whole)).emitted]).toMatchObject([
      { type: 'thinking.delta', messageId: 'r', text: 'one' },
      { type: 'thinking.delta', messageId: 'r', text: '\n\n' },
      { type: 'thinking.delta', messageId: 'r', text: 'two' },
      { type: 'thinking.delta', messageId: 'r:content', text: 'raw' },
      { type: 'thinking.completed', messageId: 'r', text: 'one\n\ntwo' },
      { type: 'thinking.completed', messageId: 'r:content', text: 'raw' },
    ])
  })

  test('so are parts of raw thinking, which only their number identifies', () => {
    const codec = inTurn()
    const raw = (contentIndex: number, delta: string) =>
      notification('item/reasoning/textDelta', { itemId: 'r', contentIndex, delta })
    const deltas = [raw(0, 'a'), raw(0, 'b'), raw(1, 'c'), raw(1, 'd')].flatMap((frame) => [
      ...codec.hear(frame).emitted,
    ])
    const whole = { type: 'reasoning', id: 'r', summary: [], content: ['ab', 'cd'] }
    const [completed] = codec.hear(item('completed', whole)).emitted
    expect(completed).toMatchObject({ type: 'thinking.completed', messageId: 'r:content', text: 'ab\n\ncd' })
    expect(deltas.map((one) => (one.type === 'thinking.delta' ? one.text : one)).join('')).toBe('ab\n\ncd')
  })

  test('a steering prompt between two messages is folded in', () => {
    const steer = { type: 'userMessage', id: 'u2', content: [{ type: 'text', text: 'and this' }] }
    expect(inTurn().hear(item('started', steer)).emitted).toEqual([
      { type: 'turn.steered', prompt: 'and this', effect: 'folded' },
    ])
  })

  test('a message that continues after it was cut off emits the rest once', () => {
    const codec = inTurn()
    const hear = (...frames: object[]) => frames.flatMap((frame) => [...codec.hear(frame).emitted])
    const delta = (text: string) => notification('item/agentMessage/delta', { itemId: 'm', delta: text })
    const steer = (id: string) => item('started', { type: 'userMessage', id, content: [] })
    const whole = (text: string) => item('completed', { type: 'agentMessage', id: 'm', text })
    expect(hear(delta('abc'), steer('u2'), delta('def'), steer('u3'), whole('abcdefghi'))).toMatchObject([
      { type: 'text.delta', messageId: 'm', text: 'abc' },
      { type: 'text.completed', messageId: 'm', text: 'abc', partial: true },
      { type: 'turn.steered', effect: 'restarted' },
      { type: 'text.delta', messageId: 'm~2', text: 'def' },
      { type: 'text.completed', messageId: 'm~2', text: 'def', partial: true },
      { type: 'turn.steered', effect: 'restarted' },
      { type: 'text.completed', messageId: 'm~3', text: 'ghi' },
    ])
    expect(hear(turnCompleted()).at(-1)).toMatchObject({ result: 'abcdefghi' })
  })

  test('so does a thought, between two parts of its summary', () => {
    const codec = inTurn()
    const hear = (...frames: object[]) => frames.flatMap((frame) => [...codec.hear(frame).emitted])
    const delta = (text: string) =>
      notification('item/reasoning/summaryTextDelta', { itemId: 'r', delta: text })
    const part = notification('item/reasoning/summaryPartAdded', { itemId: 'r' })
    hear(part, delta('one'), item('started', { type: 'userMessage', id: 'u2', content: [] }))
    const whole = { type: 'reasoning', id: 'r', summary: ['one', 'two'], content: [] }
    expect(hear(part, delta('two'), item('completed', whole))).toMatchObject([
      { type: 'thinking.delta', messageId: 'r~2', text: '\n\n' },
      { type: 'thinking.delta', messageId: 'r~2', text: 'two' },
      { type: 'thinking.completed', messageId: 'r~2', text: '\n\ntwo' },
    ])
  })

  test('a message or thinking that was cut off at its end has nothing left to emit', () => {
    const codec = inTurn()
    const thought = { itemId: 'r', delta: 'hm' }
    codec.hear(notification('item/agentMessage/delta', { itemId: 'm', delta: 'abc' }))
    codec.hear(notification('item/reasoning/summaryTextDelta', thought))
    codec.hear(item('started', { type: 'userMessage', id: 'u2', content: [] }))
    expect(codec.hear(item('completed', { type: 'agentMessage', id: 'm', text: 'abc' })).emitted).toEqual([])
    const end = { type: 'reasoning', id: 'r', summary: ['hm'], content: [] }
    expect(codec.hear(item('completed', end)).emitted).toEqual([])
    expect(
      codec.hear(item('completed', { type: 'agentMessage', id: 'n', text: 'abc' })).emitted,
    ).toHaveLength(1)
  })

  test('limits are emitted when they change', () => {
    const codec = opened()
    const limits = (usedPercent: number) =>
      notification('account/rateLimits/updated', {
        rateLimits: { primary: { usedPercent, resetsAt: 1_800_000_000 }, secondary: null, planType: 'plus' },
      })
    expect(codec.hear(limits(10)).emitted).toMatchObject([
      { kind: 'rate', usedPercent: 10, resetsAt: 1_800_000_000_000 },
    ])
    expect(codec.hear(limits(10)).emitted).toEqual([])
    expect(codec.hear(limits(11)).emitted).toHaveLength(1)
    expect(codec.hear(limits(100)).emitted).toMatchObject([{ kind: 'quota', account: 'plus' }])
    expect(codec.hear(limits(100)).emitted).toEqual([])
  })

  test('a used-up limit is reported in every turn', () => {
    const codec = inTurn()
    const used = { usedPercent: 100, resetsAt: 1_800_000_000 }
    const limits = notification('account/rateLimits/updated', { rateLimits: { primary: used } })
    expect(codec.hear(limits).emitted).toHaveLength(1)
    expect(codec.hear(limits).emitted).toEqual([])
    codec.hear(notification('turn/completed', { turn: { id: 'turn-1', status: 'completed' } }))
    codec.command({ type: 'prompt', text: 'more' })
    expect(codec.hear(limits).emitted).toMatchObject([{ kind: 'quota', resetsAt: 1_800_000_000_000 }])
  })

  test('hooks, names, compactions and failed MCP servers are reported', () => {
    const codec = inTurn()
    const run = { id: 'h1', eventName: 'preToolUse', status: 'blocked', entries: [{ kind: 'x', text: 'no' }] }
    const status = { name: 'demo', status: 'failed', error: 'gone' }
    const progress = { itemId: 'call-1', message: 'half way' }
    codec.hear(item('started', { type: 'mcpToolCall', id: 'call-1', server: 'demo', tool: 'echo' }))
    const emitted = [
      notification('hook/started', { run }),
      notification('hook/completed', { run }),
      notification('thread/name/updated', { threadName: 'A name' }),
      item('completed', { type: 'contextCompaction', id: 'x' }),
      notification('mcpServer/startupStatus/updated', status),
      notification('item/mcpToolCall/progress', progress),
    ].flatMap((frame) => [...codec.hear(frame).emitted])
    expect(emitted).toMatchObject([
      { type: 'hook.started', hookId: 'h1', event: 'preToolUse' },
      { type: 'hook.completed', status: 'blocked', output: 'no' },
      { type: 'session.updated', title: 'A name' },
      { type: 'context.compacted' },
      { type: 'notice.raised', message: 'the MCP server demo did not start: gone' },
      { type: 'tool.progressed', toolId: 'call-1', message: 'half way' },
    ])
  })

  test('a refusal by the provider is the model’s and not a failure', () => {
    const error = { message: 'declined', codexErrorInfo: 'cyberPolicy' }
    expect(inTurn().hear(turnCompleted('failed', { error })).emitted).toMatchObject([{ evidence: 'refusal' }])
  })

  test('a call that Codex refused by itself denies the open turn, and only that', () => {
    const line =
      '\u001b[2mcodex_core::tools::router\u001b[0m: \u001b[3merror\u001b[0m=approval policy is Never; reject command'
    const codec = inTurn()
    expect(codec.stderr(line).emitted.at(-1)).toMatchObject({ code: 'tool_refused' })
    expect(codec.hear(turnCompleted()).emitted).toMatchObject([{ denials: 1, personDenials: 0 }])
    codec.stderr(line)
    codec.command({ type: 'prompt', text: 'go' })
    const next = notification('turn/completed', { turn: { id: 'turn-2', status: 'completed' } })
    expect(codec.hear(next).emitted).toMatchObject([{ denials: 0 }])
  })

  test('a denial that a call and stderr both report counts once, in either order', () => {
    const line = 'ERROR codex_core::tools::router: error=exec_command failed: Rejected("ls")'
    const call = { type: 'commandExecution', id: 'call-1', command: 'ls' }
    const declined = item('completed', { ...call, status: 'declined' })
    const codec = inTurn()
    codec.hear(item('started', call))
    codec.stderr(line)
    codec.hear(declined)
    codec.hear(item('completed', { ...call, id: 'call-2', status: 'declined' }))
    codec.stderr(line)
    codec.stderr(line)
    expect(codec.hear(turnCompleted()).emitted).toMatchObject([{ denials: 3, personDenials: 0 }])
    const exec = wire('oneshot')
    const end = { id: 'item_0', type: 'command_execution', command: 'ls', status: 'declined' }
    exec.hear({ type: 'item.completed', item: end })
    exec.stderr(line)
    exec.hear({ type: 'turn.completed', usage: {} })
    expect(exec.end()).toMatchObject([{ evidence: 'success', denials: 1 }])
  })

  test('a call that failed for lack of file permissions was not denied', () => {
    const error = 'apply_patch verification failed: Permission denied (os error 13)'
    const codec = inTurn()
    expect(codec.stderr(`ERROR codex_core::tools::router: error=${error}`).emitted.at(-1)).toMatchObject({
      code: 'agent_warning',
      message: error,
    })
    expect(codec.hear(turnCompleted()).emitted).toMatchObject([{ denials: 0 }])
  })

  test('the rejection of a person is not counted a second time from stderr', () => {
    const codec = inTurn()
    const line = 'ERROR codex_core::tools::router: error=patch rejected by user'
    expect(codec.stderr(line).emitted).toEqual([{ type: 'output.written', stream: 'stderr', line }])
  })
})
