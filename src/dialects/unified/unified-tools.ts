import type { FileChanged, ToolCompleted, ToolProgressed, ToolStarted } from '../../model/events/tool.ts'
import { argumentsOf, outputOf, whyFailed } from '../kit/tool-output.ts'
import type { Body } from './unified-event.ts'

const NOTHING: readonly Body[] = []

export function toolStarted({ toolId, name, input }: ToolStarted): Body {
  return { type: 'toolStarted', toolId, toolName: name, arguments: argumentsOf(input) }
}

/** A heartbeat without a message is not reported. */
export function toolProgress(event: ToolProgressed): readonly Body[] {
  const { toolId, output, progress, message } = event
  if (output === undefined && progress === undefined)
    return message === undefined ? NOTHING : [{ type: 'logEntry', event }]
  return [
    {
      type: 'toolProgress',
      toolId,
      ...(output !== undefined && { output }),
      ...(progress !== undefined && { progress }),
    },
  ]
}

/** A failed tool emits `toolFailed` directly before `toolCompleted`. A call without a reported end is no failure. */
export function toolCompleted(event: ToolCompleted): readonly Body[] {
  const { toolId, status } = event
  const result = outputOf(event) ?? event.data
  const withResult = result !== undefined && { result }
  if (status === 'success') return [{ type: 'toolCompleted', toolId, success: true, ...withResult }]
  if (status === 'unknown') return [{ type: 'toolCompleted', toolId, success: true, ...withResult, status }]
  const error = whyFailed(event)
  const completed: Body = { type: 'toolCompleted', toolId, success: false, ...withResult, error, status }
  return [{ type: 'toolFailed', toolId, error }, completed]
}

/**
 * This dialect has no renames: the old name is reported as deleted and the new one as created. A guess of the kind has
 * no type in the document.
 */
export function fileChanged(event: FileChanged): readonly Body[] {
  const { path, change, changeReported, from, diff, before, after, toolId } = event
  const was = before !== undefined && { before }
  const is = { ...(diff !== undefined && { diff }), ...(after !== undefined && { after }) }
  if (changeReported === false)
    return [{ type: 'fileWritten', filePath: path, ...(toolId !== undefined && { toolId }), ...was, ...is }]
  if (change !== 'renamed')
    return [{ type: 'fileChanged', filePath: path, changeType: change, ...was, ...is }]
  const created: Body = { type: 'fileChanged', filePath: path, changeType: 'created', ...is }
  if (from === undefined) return [created]
  return [{ type: 'fileChanged', filePath: from, changeType: 'deleted', ...was }, created]
}
