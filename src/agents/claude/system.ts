import { epochMs } from '../../model/text/epoch-ms.ts'
import type { Decoded, Emitted } from '../agent.ts'
import { emit, emitAll, nothing, unmapped } from '../kit/decoded.ts'
import {
  amount,
  compact,
  count,
  type Fields,
  fields,
  int,
  isFields,
  list,
  number,
  text,
  texts,
} from '../kit/fields.ts'
import { updateSession } from '../kit/known.ts'
import { type FrameRule, ruleTable } from '../kit/rules.ts'
import { refuseTool } from '../kit/tools.ts'
import { decodeTaskNotification, decodeTaskProgress, decodeTaskStarted } from './background.ts'
import { noteBegun } from './binding.ts'
import type { ClaudeState } from './state.ts'
import { beginTurn } from './steers.ts'
import { discardBlocks, streamOf } from './stream.ts'

const ruleOf = ruleTable<FrameRule<ClaudeState>>({
  init(state, native) {
    const emitted: Emitted[] = []
    // No prompt of ours is active: the agent continues by itself, after background work.
    if (state.start.launch === 'live' && !state.turn.open) emitted.push(beginTurn(state))
    noteBegun(state, native)
    emitted.push(
      ...updateSession(state, {
        nativeSessionId: text(native, 'session_id'),
        agentVersion: text(native, 'claude_code_version'),
        model: text(native, 'model'),
        tools: texts(native, 'tools'),
        mode: text(native, 'permissionMode'),
        commands: texts(native, 'slash_commands'),
      }),
      ...mcpTrouble(state, native),
    )
    return emitAll(emitted)
  },

  status: (state, native) => emitAll(updateSession(state, { mode: text(native, 'permissionMode') })),

  hook_started: (_state, native) => emit({ type: 'hook.started', ...hookOf(native) }),

  hook_response(_state, native) {
    const exitCode = int(native, 'exit_code')
    const ended = text(native, 'outcome')
    // A hook denies with exit code 2.
    const status = exitCode === 2 ? 'blocked' : ended === 'success' ? 'success' : hookFailure(ended)
    return emit({
      type: 'hook.completed',
      ...hookOf(native),
      status,
      ...compact({ output: text(native, 'output'), exitCode }),
    })
  },

  api_retry(state, native) {
    return emit(...discardBlocks(state, state.turn.stream), retryOf(native, text(native, 'error')))
  },

  task_started: decodeTaskStarted,
  task_progress: decodeTaskProgress,
  task_notification: decodeTaskNotification,

  permission_denied(state, native) {
    const toolId = text(native, 'tool_use_id') ?? ''
    refuseTool(state.ledger, toolId, text(native, 'decision_reason_type') === 'hook' ? 'hook' : 'policy')
    return emit({
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

  informational(state, native) {
    // The prompt never reached the model: a hook denied it.
    if (text(fields(native, 'prompt_submit_outcome'), 'kind') === 'blocked_by_hook') state.ledger.denials++
    return notice(levelOf(native.level), text(native, 'content'))
  },

  notification: (_state, native) => notice('info', text(native, 'text')),

  model_refusal_no_fallback(state, native) {
    state.turn.evidence.refusal = true
    const explanation = text(native, 'api_refusal_explanation') ?? text(native, 'content')
    return notice('warning', explanation || 'the model declined to answer')
  },

  compact_boundary(_state, native) {
    const meta = fields(native, 'compact_metadata')
    return emit({
      type: 'context.compacted',
      ...compact({
        trigger: text(meta, 'trigger'),
        before: count(meta, 'pre_tokens'),
        after: count(meta, 'post_tokens'),
      }),
    })
  },

  // Estimates while thinking; the usage of the step has the exact figure.
  thinking_tokens: () => nothing,
  // Repeat the notification of the task.
  task_updated: () => nothing,
  background_tasks_changed: () => nothing,
  // Requests a screen repaint.
  ui_invalidate: () => nothing,
})

/** A foreground sub-agent retries its model call; reported as progress of its call. */
export function decodeInnerRetry(state: ClaudeState, parent: string | undefined, native: Fields): Decoded {
  const stream = parent === undefined ? undefined : streamOf(state, parent)
  const emitted = stream ? discardBlocks(state, stream) : []
  return emit(...emitted, retryOf(native, text(native, 'error_category')))
}

function retryOf(native: Fields, message: string | undefined): Emitted {
  return {
    type: 'limit.reported',
    kind: 'retry',
    ...compact({
      attempt: count(native, 'attempt'),
      of: count(native, 'max_retries'),
      delayMs: amount(native, 'retry_delay_ms'),
      status: int(native, 'error_status'),
      message,
    }),
  }
}

/** The agent clears its context. The id of the new session comes with its next handshake. */
export function decodeReset(_state: ClaudeState, native: Fields): Decoded {
  const trigger = text(native, 'trigger')
  return emit({
    type: 'notice.raised',
    level: 'info',
    code: 'agent_warning',
    message: `the conversation starts over${trigger === undefined ? '' : `: ${trigger}`}`,
  })
}

export function decodeSystem(state: ClaudeState, native: Fields, raw: string): Decoded {
  const rule = ruleOf(native.subtype)
  return rule ? rule(state, native, raw) : unmapped(`system/${text(native, 'subtype') ?? '?'}`, raw)
}

/** A failed server is missing from the tools without further notice; reported once, not in each turn. */
function mcpTrouble(state: ClaudeState, native: Fields): Emitted[] {
  const emitted: Emitted[] = []
  for (const item of list(native, 'mcp_servers')) {
    if (!isFields(item)) continue
    const server = text(item, 'name') ?? '?'
    const status = text(item, 'status') ?? '?'
    if (state.mcpServers.get(server) === status) continue
    state.mcpServers.set(server, status)
    if (status !== 'failed' && status !== 'needs-auth') continue
    const message = `MCP server ${server}: ${status}`
    const data = { server, status }
    emitted.push({ type: 'notice.raised', level: 'warning', code: 'agent_warning', message, data })
  }
  return emitted
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

function levelOf(level: unknown): 'info' | 'warning' | 'error' {
  return level === 'warning' || level === 'error' ? level : 'info'
}

function notice(level: 'info' | 'warning' | 'error', message: string | undefined): Decoded {
  return emit({ type: 'notice.raised', level, code: 'agent_warning', message: message ?? '' })
}

/** The account's limits, as the subscription reports them. */
export function decodeRateLimit(_state: ClaudeState, native: Fields): Decoded {
  const info = isFields(native.rate_limit_info) ? native.rate_limit_info : native
  const resetsAt = epochMs(number(info, 'resetsAt') ?? text(info, 'resetsAt'))
  const isRejected = text(info, 'status') === 'rejected'
  // A rejected request exceeds the limit, even without a figure.
  const used = amount(info, 'utilization') ?? (isRejected ? 1 : undefined)
  // The limit, such as five_hour, and its status.
  const words = [text(info, 'rateLimitType'), text(info, 'status')].filter((word) => word !== undefined)
  return emit({
    type: 'limit.reported',
    kind: isRejected ? 'quota' : 'rate',
    ...compact({
      // Requests beyond the limits of the subscription are billed separately.
      account: info.isUsingOverage === true ? 'extra usage' : undefined,
      message: words.length > 0 ? words.join(': ') : undefined,
      resetsAt,
      usedPercent: used === undefined ? undefined : Math.round(used * 100),
    }),
  })
}
