import type { LimitReported, NoticeRaised } from '../../model/events/report.ts'
import type { RequestOpened } from '../../model/events/request.ts'
import type { ToolCompleted } from '../../model/events/tool.ts'
import type { ErrorCode, Usage } from '../../model/index.ts'
import { codeOfStatus } from '../../model/outcome/errors.ts'
import { isoTime } from '../kit/iso-time.ts'
import { argumentsOf, outputOrError } from '../kit/tool-output.ts'
import type { DonePayload } from './ues-event.ts'
import { type Fact, metadata } from './ues-run.ts'

/** Converts the fields of an event to the names of this dialect; the metadata identifies the sub-agent and tool. */
export function extension(
  namespace: string,
  name: string,
  event: Readonly<Record<string, unknown>>,
  status?: string,
): Fact {
  const { type: _, parent, toolId, ...fields } = event
  const payload = {
    ...fields,
    ...(status !== undefined && { status }),
    ...(toolId !== undefined && { toolUseId: toolId }),
  }
  return { type: `${namespace}:${name}`, payload, ...metadata({ parent }) }
}

export function toolResult(event: ToolCompleted): Fact {
  const { toolId, name, status, error, exitCode, data, durationMs, parent } = event
  const known =
    status === 'denied' ? status : status === 'success' || status === 'unknown' ? 'success' : 'error'
  const output = outputOrError(event) ?? data ?? null
  return {
    type: 'tool_result',
    payload: {
      toolUseId: toolId,
      toolName: name,
      status: known,
      output,
      ...(durationMs !== undefined && { durationMs }),
    },
    ...metadata({
      status: status === known ? undefined : status,
      error: error === output ? undefined : error,
      exitCode,
      parent,
    }),
  }
}

/** The subject of a request without a tool. */
const SUBJECTS: Record<RequestOpened['kind'], string> = {
  permission: 'permission',
  question: 'AskUserQuestion',
  plan: 'plan',
  login: 'login',
}

export function permissionRequest(event: RequestOpened): Fact {
  const { kind, requestId, tool, toolId, title, input, questions, options, parent, permission, data } = event
  return {
    type: 'permission_request',
    payload: {
      toolName: kind === 'question' ? SUBJECTS.question : (tool ?? SUBJECTS[kind]),
      toolUseId: toolId ?? requestId,
      input: questions ? { questions } : argumentsOf(input),
      ...(title !== undefined && { reason: title }),
    },
    ...metadata({ requestId, kind, options, parent, permission, data }),
  }
}

/** A usage gauge below its limit is not an error. */
export function limit(agent: string, event: LimitReported): Fact {
  const { kind, usedPercent, status, resetsAt: ms } = event
  const resetsAt = ms === undefined ? {} : { resetsAt: isoTime(ms) }
  if (kind === 'rate' && (usedPercent ?? 0) < 100)
    return extension(agent, 'rate_limit', { ...event, ...resetsAt })
  const code = LIMITS[kind] ?? codeOfRetry(status)
  const { type: _, message, ...others } = event
  const figures = { ...others, ...resetsAt }
  const words = message ?? (kind === 'retry' ? 'the agent is retrying' : 'the account limit is reached')
  return { type: 'error', payload: { code, message: words, recoverable: true }, metadata: figures }
}

const LIMITS: Partial<Record<LimitReported['kind'], ErrorCode>> = {
  quota: 'quota_exceeded',
  rate: 'rate_limited',
}

/** The reason for a retry: without a status, or with an unknown one, it is the connection. */
function codeOfRetry(status: number | undefined): ErrorCode {
  const code = status === undefined ? 'unknown' : codeOfStatus(status)
  return code === 'unknown' ? 'connection_failed' : code
}

export function notice(event: NoticeRaised): Fact {
  const { level, code, message, data } = event
  if (level === 'info') return extension('mainstem', 'notice', event)
  return { type: 'error', payload: { code, message, recoverable: true }, ...metadata({ level, data }) }
}

/** This dialect requires all counts; `usageReported: false` marks counts that the agent did not report. */
export function usageOf(usage: Usage | undefined, toolUses: number): DonePayload['usage'] {
  const { input, output, cacheRead = 0, cacheWrite = 0, costUsd, partial } = usage ?? {}
  return {
    inputTokens: (input ?? 0) + cacheRead + cacheWrite,
    outputTokens: output ?? 0,
    toolUses,
    ...(costUsd !== undefined && { totalCostUsd: costUsd }),
    ...((input === undefined || output === undefined) && { usageReported: false }),
    ...(partial && { usagePartial: true }),
  }
}
