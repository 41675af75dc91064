import { isForPerson } from '../../model/request/for-person.ts'
import type { RequestItem, ToolItem } from './items.ts'
import type { Timeline } from './timeline.ts'

/** What a session is doing now. */
export type Activity =
  | {
      /** No turn runs. */
      state: 'idle'
    }
  | {
      /** The turn waits for a person. */
      state: 'waiting'
      /** The open requests. */
      requests: readonly RequestItem[]
    }
  | {
      /** A tool call runs. */
      state: 'tool'
      /** The call that started last. */
      tool: ToolItem
    }
  | {
      /** The model writes a message, reasons or is called. */
      state: 'text' | 'thinking' | 'model'
    }

/** What a session is doing after the last entry of its timeline. */
export function activityOf({ running, requests, items }: Timeline): Activity {
  if (!running) return { state: 'idle' }
  const waiting = [...requests.values()].filter(isOpenForPerson)
  if (waiting.length > 0) return { state: 'waiting', requests: waiting }
  const begun = items.findLastIndex(({ kind, turn }) => kind === 'outcome' || turn !== running.turn)
  const now = items.slice(begun + 1)
  const tool = now.findLast((item) => item.kind === 'tool' && item.status === 'running')
  if (tool?.kind === 'tool') return { state: 'tool', tool }
  const last = now.at(-1)
  const isWriting = (last?.kind === 'text' || last?.kind === 'thinking') && last.state === 'streaming'
  return { state: isWriting ? last.kind : 'model' }
}

function isOpenForPerson({ request, resolved, withdrawn }: RequestItem): boolean {
  return !resolved && !withdrawn && isForPerson(request)
}
