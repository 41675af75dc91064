import { useEffect } from 'react'
import { client } from '../app/client.ts'
import { Store, useStore } from '../app/store.ts'

/** The first prompts that were read so far, by session. */
export const firstPrompts = new Store<ReadonlyMap<string, string>>(new Map())

const reading = new Set<string>()

async function read(id: string): Promise<void> {
  if (reading.has(id) || firstPrompts.get().has(id)) return
  reading.add(id)
  try {
    const { entries = [] } = await client.page(id, { types: ['turn.started', 'turn.queued'], limit: 1 })
    const event = entries[0]?.event
    const prompt = event?.type === 'turn.started' || event?.type === 'turn.queued' ? event.prompt : undefined
    if (prompt !== undefined) firstPrompts.set(new Map(firstPrompts.get()).set(id, prompt))
  } finally {
    reading.delete(id)
  }
}

/** The first prompt of a session that has no title, read once for each row that is shown. */
export function useFirstPrompt(id: string, wanted: boolean): string | undefined {
  useEffect(() => {
    // The row shows the name of the agent instead, and the next one that is shown asks again.
    if (wanted) read(id).catch(() => undefined)
  }, [id, wanted])
  return useStore(firstPrompts).get(id)
}
