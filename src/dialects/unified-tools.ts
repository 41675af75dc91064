import type { FileChanged, ToolCompleted, ToolProgressed, ToolStarted } from '../model/events/tool.ts'
import { argumentsOf, outputOf, whyFailed } from './tool-output.ts'
import type { Body } from './unified-event.ts'

const NOTHING: readonly Body[] = []

export function toolStarted({ toolId, name, input }: ToolStarted): Body {
  return { type: 'toolStarted', toolId, toolName: name, arguments: argumentsOf(input) }
}

export function toolProgress({ toolId, output, progress }: ToolProgressed): readonly Body[] {
  if (output === undefined && progress === undefined) return NOTHING
  return [
    {
      type: 'toolProgress',
      toolId,
      ...(output !== undefined && { output }),
      ...(progress !== undefined && { progress }),
    },
  ]
}

/** A failed tool emits `toolFailed` directly before `toolCompleted`, unless its status is unknown. */
export function toolCompleted(event: ToolCompleted): readonly Body[] {
  const { toolId, status } = event
  const result = outputOf(event) ?? event.data
  const withResult = result !== undefined && { result }
  if (status === 'success') return [{ type: 'toolCompleted', toolId, success: true, ...withResult }]
  const error = whyFailed(event)
  const completed: Body = { type: 'toolCompleted', toolId, success: false, ...withResult, error, status }
  return status === 'unknown' ? [completed] : [{ type: 'toolFailed', toolId, error }, completed]
}

/** This dialect has no renames: the old name is reported as deleted and the new one as created. */
export function fileChanged({ path, change, from, diff, before, after }: FileChanged): readonly Body[] {
  const was = before !== undefined && { before }
  const is = { ...(diff !== undefined && { diff }), ...(after !== undefined && { after }) }
  if (change !== 'renamed')
    return [{ type: 'fileChanged', filePath: path, changeType: change, ...was, ...is }]
  const created: Body = { type: 'fileChanged', filePath: path, changeType: 'created', ...is }
  if (from === undefined) return [created]
  return [{ type: 'fileChanged', filePath: from, changeType: 'deleted', ...was }, created]
}
