import type { SessionFacts, SessionRecord } from 'mainstem/client'
import { useState } from 'react'
import { client } from '../../app/client.ts'
import { APPROVAL_CHOICES, isStricter } from '../../inbox/policies.ts'
import { useAction } from '../../ui/action.ts'
import { GuardedSelect } from '../guarded-select.tsx'

interface TurnSettingsProps {
  record: SessionRecord
  facts: SessionFacts
}

const LOOK =
  'max-w-40 truncate rounded-md border-transparent bg-transparent py-0.5 pr-1 pl-1.5 text-xs text-soft hover:bg-raised hover:text-ink'

/** Model and permissions beside the field, with when a change takes effect. */
export function TurnSettings({ record, facts }: TurnSettingsProps) {
  const { id, policy } = record
  const { busy, error, run } = useAction()
  const [note, setNote] = useState<string>()
  const change = (work: () => Promise<{ applied: 'now' | 'next_turn' }>) =>
    run(async () => {
      const { applied } = await work()
      setNote(applied === 'now' ? undefined : 'from the next turn on')
    })
  const current = record.model ?? facts.model
  return (
    <>
      {facts.models.length > 1 && (
        <select
          aria-label="Model"
          className={LOOK}
          disabled={busy}
          value={current ?? ''}
          onChange={({ target }) => change(() => client.setModel(id, target.value))}
        >
          {facts.models.some((model) => model.id === current) || (
            <option value={current ?? ''}>{current ?? 'default model'}</option>
          )}
          {facts.models.map((model) => (
            <option key={model.id} value={model.id}>
              {model.name ?? model.id}
            </option>
          ))}
        </select>
      )}
      <GuardedSelect
        session={id}
        label="Permissions of this session"
        className={LOOK}
        busy={busy}
        value={policy.approval}
        choices={APPROVAL_CHOICES}
        isStricter={(approval) => isStricter(approval, policy.approval)}
        onChange={(approval) => change(() => client.setMode(id, { policy: { ...policy, approval } }))}
      />
      {(error ?? note) !== undefined && (
        <span role="status" className={`text-xs ${error === undefined ? 'text-soft' : 'text-bad'}`}>
          {error ?? note}
        </span>
      )}
    </>
  )
}
