import { useEffect, useState } from 'react'
import { client } from '../app/client.ts'

const known = new Map<string, Promise<string | undefined>>()

async function read(id: string): Promise<string | undefined> {
  const { entries = [] } = await client.page(id, { types: ['turn.started', 'turn.queued'], limit: 1 })
  const event = entries[0]?.event
  return event?.type === 'turn.started' || event?.type === 'turn.queued' ? event.prompt : undefined
}

/** The first prompt of a session that has no title, read once for each row that is shown. */
export function useFirstPrompt(id: string, wanted: boolean): string | undefined {
  const [prompt, setPrompt] = useState<string>()
  useEffect(() => {
    if (!wanted) return
    let shown = true
    const reading = known.get(id) ?? read(id)
    known.set(id, reading)
    reading
      .then((found) => {
        if (found === undefined) known.delete(id)
        if (shown) setPrompt(found)
      })
      .catch(() => known.delete(id))
    return () => {
      shown = false
    }
  }, [id, wanted])
  return prompt
}
