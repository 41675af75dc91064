import { isFailed, type SessionRecord } from 'mainstem/client'
import type { Preferences } from '../app/preferences.ts'
import { folderName } from '../text/format.ts'
import { groupsOf, waits } from './groups.ts'

/** Which sessions a list shows. */
export type StateFilter = 'all' | 'asking' | 'running' | 'failed' | 'archived'

export type ListRow = { heading: string; count: string; title?: string } | { record: SessionRecord }

const HEADINGS = { asking: 'Needs you', running: 'Running', done: 'Done' } as const

/** How a filter calls sessions that are done. */
const DONE: Partial<Record<StateFilter, string>> = { failed: 'Failed', archived: 'Archived' }

const TESTS: Record<StateFilter, (record: SessionRecord) => boolean> = {
  all: () => true,
  asking: waits,
  running: (record) => record.status === 'busy' && !waits(record),
  failed: isFailed,
  archived: () => true,
}

type Choice = Pick<Preferences, 'pinned' | 'archived' | 'byProject'>

/** The sessions of a filter. Archived ones are in their own filter alone, unless they need someone. */
export function filtered(
  records: Iterable<SessionRecord>,
  filter: StateFilter,
  choice: Choice,
): SessionRecord[] {
  const archived = new Set(choice.archived)
  return [...records].filter((record) => {
    const isArchived = archived.has(record.id) && !waits(record)
    return isArchived === (filter === 'archived') && TESTS[filter](record)
  })
}

/** The rows of a list: pinned sessions, then by state or by directory. `hasMore`: older sessions are not here yet. */
export function rowsOf(
  records: readonly SessionRecord[],
  filter: StateFilter,
  choice: Choice,
  hasMore: boolean,
): ListRow[] {
  const pinned = choice.pinned.flatMap((id) => records.find((record) => record.id === id) ?? [])
  const others = records.filter(({ id }) => !choice.pinned.includes(id))
  const doneHeading = DONE[filter] ?? HEADINGS.done
  const groups = choice.byProject ? byProject(others) : byState(others, doneHeading)
  return [['Pinned', pinned, undefined] as const, ...groups].flatMap(([heading, own, title]) =>
    own.length === 0
      ? []
      : [
          {
            heading,
            // Older sessions, which are all done, may not be here yet.
            count: `${own.length}${hasMore && !choice.byProject && heading === doneHeading ? '+' : ''}`,
            ...(title !== undefined && { title }),
          },
          ...own.map((record) => ({ record })),
        ],
  )
}

type Group = readonly [heading: string, records: readonly SessionRecord[], title: string | undefined]

function byState(records: readonly SessionRecord[], doneHeading: string): Group[] {
  const { asking, running, done } = groupsOf(records)
  return [
    [HEADINGS.asking, asking, undefined],
    [HEADINGS.running, running, undefined],
    [doneHeading, done, undefined],
  ]
}

/** Directories in the order of their newest sessions; sessions that need someone first in each. */
function byProject(records: readonly SessionRecord[]): Group[] {
  const byDirectory = Map.groupBy(records, ({ cwd }) => cwd)
  return [...byDirectory]
    .map(([cwd, own]): { newest: number; group: Group } => {
      const { asking, running, done } = groupsOf(own)
      return {
        newest: Math.max(...own.map(({ updatedAt }) => updatedAt)),
        group: [folderName(cwd), [...asking, ...running, ...done], cwd],
      }
    })
    .sort((a, b) => b.newest - a.newest)
    .map(({ group }) => group)
}
