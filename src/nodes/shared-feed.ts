import type { Timers } from '../drivers/driver.ts'
import type { Feed, FeedCommit } from '../reading/feed.ts'
import { until } from '../sessions/with-timeout.ts'
import type { CommitLog, StoredCommit } from '../stores/nodes.ts'

/** The interval of polls for commits, in case a notification is lost. */
const POLL_MS = 1_000

/** The commits of all nodes. Cursors are valid on each of them. */
export function sharedFeed(commits: CommitLog, timers: Timers): Feed {
  return {
    epoch: () => commits.epoch(),
    head: () => commits.head(),
    isBeyondHead: (position) => commits.isBeyondHead(position),
    after: async (position, wanted) => (await commits.after(position, wanted)).map(unread),
    async changed(position, signal) {
      // Armed before reading: a commit during the read must wake us.
      const woken = until(timers, POLL_MS, signal, (either) => commits.changed(either))
      woken.catch(() => undefined)
      if ((await commits.after(position)).length === 0) await woken
    },
  }
}

function unread({ session, principal, position, seq, count, read }: StoredCommit): FeedCommit {
  return {
    session,
    principal,
    after: seq + read - 1,
    last: seq + count - 1,
    positionOf: (at) => `${position}.${at - seq + 1}`,
  }
}
