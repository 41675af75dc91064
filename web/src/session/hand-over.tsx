import type { AgentInfo, SessionRecord } from 'mainstem/client'
import type { FormEvent } from 'react'
import { useStore } from '../app/store.ts'
import { agents as agentStore } from '../inbox/agents-store.ts'
import { Button } from '../ui/button.tsx'

/** The agents that can continue a session now: those that need no step before they run. */
export function successorsOf(
  { agent, status, queue, single }: SessionRecord,
  agents: readonly AgentInfo[] = [],
): readonly AgentInfo[] {
  if (status !== 'idle' || queue.length > 0 || single) return []
  return agents.filter(({ id, state, fix }) => id !== agent && state !== 'missing' && fix === undefined)
}

interface HandOverFieldProps {
  record: SessionRecord
  busy: boolean
  onChoose(agent: AgentInfo): void
}

/** Has another agent continue the session. */
export function HandOverField({ record, busy, onChoose }: HandOverFieldProps) {
  const successors = successorsOf(record, useStore(agentStore))
  if (successors.length === 0) return null
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const id = new FormData(event.currentTarget).get('agent')
    const chosen = successors.find((agent) => agent.id === id)
    if (chosen) onChoose(chosen)
  }
  return (
    <form className="flex items-end gap-2" onSubmit={submit}>
      <label className="min-w-0 flex-1">
        <span className="text-xs text-soft">Continue with another agent</span>
        <select name="agent" className="w-full" disabled={busy}>
          {successors.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <Button type="submit" disabled={busy}>
        Continue
      </Button>
    </form>
  )
}
