import { expect } from 'vitest'
import type { MainstemClient } from '../../src/client/index.ts'
import type { Cue } from '../../test/gateway/puppet.ts'

type Opened = Extract<NonNullable<Cue['say']>, { type: 'request.opened' }>

/** A permission of a scripted agent. */
export function ask(requestId: string, input: unknown, more: Partial<Opened> = {}): Cue {
  const opened = {
    type: 'request.opened',
    requestId,
    kind: 'permission',
    blocking: true,
    tool: 'Bash',
    title: `Run ${requestId}`,
    input,
    options: [
      { id: 'once', label: 'Once', effect: 'allow', scope: 'once' },
      { id: 'session', label: 'For the session', effect: 'allow', scope: 'session' },
    ],
    ...more,
  }
  return { say: opened as Opened }
}

/** The decisions in the log of the session, in order. The log is the witness: the page may say anything. */
export async function decisions(client: MainstemClient, id: string): Promise<string[]> {
  const { entries = [] } = await client.page(id, { types: ['request.resolved'], limit: 1000 })
  return entries.flatMap(({ event }) =>
    event.type === 'request.resolved' ? [`${event.requestId} ${event.decision}`] : [],
  )
}

export const opened = (client: MainstemClient, id: string, requests: number) =>
  expect.poll(async () => (await client.session(id)).requests.length).toBe(requests)
