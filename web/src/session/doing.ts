import { activityOf, describeCall, type SessionRecord, type Timeline } from 'mainstem/client'
import { waits } from '../inbox/groups.ts'

/** What a session is doing now, for people. */
export interface Doing {
  /** `Running`, `Waiting for you`, `Waiting for the model`. */
  verb: string
  /** What it runs. */
  subject: string | undefined
  /** True for a command line. */
  isCommand: boolean
  /** When it began to do so, if that is known. */
  since: number | undefined
  /** True if it waits for a person. */
  isAsking: boolean
}

const PLAIN = { subject: undefined, isCommand: false, since: undefined, isAsking: false }

const STATES = { text: 'Writing', thinking: 'Thinking', model: 'Waiting for the model' } as const

/** The verbs of calls that run. */
const RUNNING: Readonly<Record<string, string>> = {
  Run: 'Running',
  Read: 'Reading',
  Edit: 'Editing',
  Search: 'Searching',
  Fetch: 'Fetching',
  Delete: 'Deleting',
  Move: 'Moving',
}

/** What the turn of a session is doing; undefined while no turn runs. */
export function doingOf(record: SessionRecord, timeline: Timeline | undefined): Doing | undefined {
  if (waits(record)) return { ...PLAIN, verb: 'Waiting for you', isAsking: true }
  if (record.status !== 'busy') return undefined
  const activity = timeline ? activityOf(timeline) : ({ state: 'idle' } as const)
  switch (activity.state) {
    case 'idle':
      return { ...PLAIN, verb: 'Running' }
    case 'waiting':
      return { ...PLAIN, verb: 'Waiting for you', isAsking: true }
    case 'tool': {
      const { tool } = activity
      const { verb, subject, form } = describeCall(tool, record.cwd)
      return {
        ...PLAIN,
        verb: RUNNING[verb] ?? verb,
        subject: tool.message ?? subject,
        isCommand: form === 'command' && tool.message === undefined,
        since: tool.runningSince,
      }
    }
    case 'model':
      return { ...PLAIN, verb: isRetrying(timeline) ? 'Retrying a model call' : STATES.model }
    default:
      return { ...PLAIN, verb: STATES[activity.state] }
  }
}

/** Whether nothing has happened since a limit stopped a call of the model. */
function isRetrying(timeline: Timeline | undefined): boolean {
  const last = timeline?.items.at(-1)
  return last?.kind === 'notice' && last.code.startsWith('limit_')
}

/** The same in a line of text. */
export const doingText = ({ verb, subject }: Doing): string => (subject ? `${verb} ${subject}` : verb)
