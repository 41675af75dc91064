import type { CommitFilter } from '../stores/nodes.ts'
import type { CommitFeed, CommittedEntries } from './commit-feed.ts'

/** Entries of one session that were committed together, and where a reader is among all entries. */
export interface FeedCommit {
  session: string
  principal: string
  /** The last entry before those that the reader has not read, and the last of them. */
  after: number
  last: number
  /** The position of a reader that has read up to this entry. */
  positionOf(seq: number): string
}

/** The commits of all sessions in one order. Refers to entries; the logs have them. */
export interface Feed {
  /** Cursors of another epoch are unknown here. Eight hexadecimal digits. */
  epoch(): Promise<string>
  /** The position of a reader that has read everything. */
  head(): Promise<string>
  isBeyondHead(position: string): Promise<boolean>
  /**
   * Some commits after a position; none at the head, `gone` if they were evicted. Commits that are not wanted may be left
   * out, but never the last one.
   */
  after(position: string, wanted?: CommitFilter): Promise<readonly FeedCommit[] | 'gone'>
  /** Settles when there may be commits after a position; also when the signal fires. */
  changed(position: string, signal: AbortSignal): Promise<void>
}

/** The commits of this process. A position is the number of entries before it. */
export function localFeed(commits: CommitFeed, epoch: string): Feed {
  return {
    epoch: async () => epoch,
    head: async () => `${commits.head}`,
    isBeyondHead: async (position) => Number(position) > commits.head,
    async after(position, { principal } = {}) {
      const commit = commits.after(Number(position), principal)
      if (commit === 'gone') return 'gone'
      return commit ? [unread(commit, Number(position))] : []
    },
    changed: (position, signal) => commits.changed(Number(position), signal),
  }
}

function unread({ session, principal, position, seq, count }: CommittedEntries, read: number): FeedCommit {
  return {
    session,
    principal,
    after: seq - 1 + Math.max(0, read - position + 1),
    last: seq + count - 1,
    positionOf: (at) => `${position + at - seq}`,
  }
}
