import type { SessionUpdated } from '../../model/events/session.ts'
import type { Said, Step } from '../agent.ts'
import {
  amount,
  compact,
  count,
  type Fields,
  fields,
  flag,
  int,
  isFields,
  list,
  number,
  text,
  texts,
} from '../fields.ts'
import { finishSubagent, progressTool, refuseTool, startSubagent } from '../ledger.ts'
import { ruleTable } from '../rules.ts'
import { nothing, say, sayAll, unmapped } from '../step.ts'
import type { State } from './state.ts'
import { discardBlocks } from './stream.ts'

type Rule = (state: State, native: Fields) => Step

const ruleOf = ruleTable<Rule>({
  init(state, native) {
    const said: Said[] = []
    // No prompt of ours is being worked on: the agent goes on by itself, after work in the background.
    if (state.start.launch === 'live' && !state.turnOpen) said.push(beginTurn(state))
    said.push(
      ...update(state, {
        nativeSessionId: text(native, 'session_id'),
        agentVersion: text(native, 'claude_code_version'),
        model: text(native, 'model'),
        tools: texts(native, 'tools'),
        mode: text(native, 'permissionMode'),
        commands: texts(native, 'slash_commands'),
      }),
      ...mcpTrouble(state, native),
    )
    return sayAll(said)
  },

  status: (state, native) => sayAll(update(state, { mode: text(native, 'permissionMode') })),

  hook_started: (_state, native) => say({ type: 'hook.started', ...hookOf(native) }),

  hook_response(_state, native) {
    const exitCode = int(native, 'exit_code')
    const ended = text(native, 'outcome')
    // Exit code 2 is how a hook says no.
    const status = exitCode === 2 ? 'blocked' : ended === 'success' ? 'success' : hookFailure(ended)
    return say({
      type: 'hook.completed',
      ...hookOf(native),
      status,
      ...compact({ output: text(native, 'output'), exitCode }),
    })
  },

  api_retry(state, native) {
    return say(...discardBlocks(state, 0), {
      type: 'limit.reported',
      kind: 'retry',
      ...compact({
        attempt: count(native, 'attempt'),
        of: count(native, 'max_retries'),
        delayMs: amount(native, 'retry_delay_ms'),
        status: int(native, 'error_status'),
        message: text(native, 'error'),
      }),
    })
  },

  task_started(state, native) {
    const id = text(native, 'tool_use_id') ?? text(native, 'task_id') ?? '?'
    const label = text(native, 'description') ?? ''
    const background = flag(native, 'is_backgrounded')
    if (text(native, 'task_type') === 'local_agent') {
      const parent = state.ledger.tools.get(id)?.parent
      const more = compact({
        agentType: text(native, 'subagent_type'),
        prompt: text(native, 'prompt'),
        parent,
      })
      return sayAll(startSubagent(state.ledger, { id, toolId: id, label, background, ...more }))
    }
    // A shell that takes some seconds is announced too: not a sub-agent.
    state.shells.set(id, background)
    if (!background) return sayAll(progressTool(state.ledger, id, { message: label }))
    return say({
      type: 'notice.raised',
      level: 'info',
      code: 'background_started',
      message: label,
      data: { toolId: id },
    })
  },

  task_progress(state, native) {
    const id = text(native, 'tool_use_id')
    if (id === undefined || !state.ledger.subagents.has(id)) return nothing
    const total = count(fields(native, 'usage'), 'total_tokens')
    const message = text(native, 'description')
    return say({
      type: 'subagent.progressed',
      id,
      ...compact({ message, usage: total === undefined ? undefined : { total } }),
    })
  },

  task_notification(state, native) {
    const id = text(native, 'tool_use_id') ?? text(native, 'task_id') ?? '?'
    const summary = text(native, 'summary')
    if (state.ledger.subagents.has(id)) {
      const usage = fields(native, 'usage')
      const total = count(usage, 'total_tokens')
      return sayAll(
        finishSubagent(state.ledger, id, {
          status: taskStatus(text(native, 'status')),
          ...compact({
            summary,
            usage: total === undefined ? undefined : { total },
            durationMs: count(usage, 'duration_ms'),
          }),
        }),
      )
    }
    // A foreground shell's end is told by its result.
    if (state.shells.get(id) !== true) return nothing
    return say({
      type: 'notice.raised',
      level: 'info',
      code: 'background_finished',
      message: summary ?? '',
      data: compact({ toolId: id, status: text(native, 'status'), outputFile: text(native, 'output_file') }),
    })
  },

  permission_denied(state, native) {
    const toolId = text(native, 'tool_use_id') ?? ''
    refuseTool(state.ledger, toolId, text(native, 'decision_reason_type') === 'hook' ? 'hook' : 'policy')
    return say({
      type: 'notice.raised',
      level: 'warning',
      code: 'tool_refused',
      message: text(native, 'message') ?? '',
      data: compact({
        toolId,
        tool: text(native, 'tool_name'),
        reason: text(native, 'decision_reason'),
        reasonType: text(native, 'decision_reason_type'),
      }),
    })
  },

  informational: (_state, native) => notice('info', text(native, 'content')),

  model_refusal_no_fallback(state, native) {
    state.refusal = true
    const explanation = text(native, 'api_refusal_explanation') ?? text(native, 'content')
    return notice('warning', explanation || 'the model declined to answer')
  },

  compact_boundary(_state, native) {
    const meta = fields(native, 'compact_metadata')
    return say({
      type: 'context.compacted',
      ...compact({
        trigger: text(meta, 'trigger'),
        before: count(meta, 'pre_tokens'),
        after: count(meta, 'post_tokens'),
      }),
    })
  },

  // Estimates while thinking; the usage of the step has the figure.
  thinking_tokens: () => nothing,
  // Repeat what the notification of the task says.
  task_updated: () => nothing,
  background_tasks_changed: () => nothing,
  // Asks a screen to repaint.
  ui_invalidate: () => nothing,
})

export function decodeSystem(state: State, native: Fields, raw: string): Step {
  const rule = ruleOf(native.subtype)
  return rule ? rule(state, native) : unmapped(`system/${text(native, 'subtype') ?? '?'}`, raw)
}

/** A turn that we did not open with a prompt: one that a steering prompt became, or the agent's own. */
export function beginTurn(state: State, steer = state.steers.shift()): Said {
  state.turnOpen = true
  if (!steer) return { type: 'turn.started', origin: 'agent' }
  const promptId = steer.promptId === undefined ? {} : { promptId: steer.promptId }
  return { type: 'turn.started', origin: 'prompt', prompt: steer.text, ...promptId }
}

/** Only what is new is worth an event. */
export function update(
  state: State,
  now: { [K in keyof SessionUpdated]?: SessionUpdated[K] | undefined },
): Said[] {
  const changed: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(now)) {
    if (value === undefined || same(value, Reflect.get(state.known, key))) continue
    changed[key] = value
  }
  if (Object.keys(changed).length === 0) return []
  state.known = { ...state.known, ...changed }
  return [{ type: 'session.updated', ...changed }]
}

function same(a: unknown, b: unknown): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b
  return a.length === b.length && a.every((item, index) => item === b[index])
}

/** A server that did not come up is missing from the tools without another word; told once, not each turn. */
function mcpTrouble(state: State, native: Fields): Said[] {
  const said: Said[] = []
  for (const item of list(native, 'mcp_servers')) {
    if (!isFields(item)) continue
    const server = text(item, 'name') ?? '?'
    const status = text(item, 'status') ?? '?'
    if (state.mcpServers.get(server) === status) continue
    state.mcpServers.set(server, status)
    if (status !== 'failed' && status !== 'needs-auth') continue
    const message = `MCP server ${server}: ${status}`
    const data = { server, status }
    said.push({ type: 'notice.raised', level: 'warning', code: 'agent_warning', message, data })
  }
  return said
}

function hookOf(native: Fields): { hookId: string; name: string; event: string } {
  return {
    hookId: text(native, 'hook_id') ?? '',
    name: text(native, 'hook_name') ?? '',
    event: text(native, 'hook_event') ?? '',
  }
}

function hookFailure(ended: string | undefined): 'error' | 'cancelled' {
  return ended === 'cancelled' ? 'cancelled' : 'error'
}

function taskStatus(status: string | undefined): 'success' | 'error' | 'cancelled' {
  if (status === 'completed') return 'success'
  return status === 'failed' ? 'error' : 'cancelled'
}

function notice(level: 'info' | 'warning', message: string | undefined): Step {
  return say({ type: 'notice.raised', level, code: 'agent_warning', message: message ?? '' })
}

/** The account's limits, as the subscription reports them. */
export function decodeRateLimit(_state: State, native: Fields): Step {
  const info = isFields(native.rate_limit_info) ? native.rate_limit_info : native
  const resetsAt = number(info, 'resetsAt') ?? text(info, 'resetsAt')
  const used = amount(info, 'utilization')
  // Which of the limits it is, such as five_hour, and how it stands.
  const words = [text(info, 'rateLimitType'), text(info, 'status')].filter((word) => word !== undefined)
  return say({
    type: 'limit.reported',
    kind: 'rate',
    ...compact({
      message: words.length > 0 ? words.join(': ') : undefined,
      resetsAt,
      usedPercent: used === undefined ? undefined : Math.round(used * 100),
    }),
  })
}
