import type { SessionFacts, SessionRecord } from 'mainstem/client'
import { useEffect, useRef, useState } from 'react'
import { client } from '../app/client.ts'
import { APPROVAL_CHOICES, isStricter } from '../inbox/policies.ts'
import { showHidden } from '../text/hidden.ts'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { DeleteButton } from './delete-button.tsx'
import { GuardedSelect } from './guarded-select.tsx'
import { HandOverField } from './hand-over.tsx'
import { verbCommands } from './verb-commands.ts'

interface SettingsMenuProps {
  record: SessionRecord
  facts: SessionFacts
}

/** Changes model, permissions and mode of a session, ends it, and deletes it. */
export default function SettingsMenu({ record, facts }: SettingsMenuProps) {
  const { id, policy, status } = record
  const { busy, error, run } = useAction()
  const [note, setNote] = useState<string>()
  const menu = useRef<HTMLDetailsElement>(null)
  const verbs = verbCommands(record, facts)
  useEffect(() => closeOutside(menu.current), [])
  const change = (work: () => Promise<{ applied: 'now' | 'next_turn' }>) =>
    run(async () => {
      const { applied } = await work()
      setNote(applied === 'now' ? 'Changed.' : 'Takes effect with the next turn.')
    })
  return (
    <details ref={menu} className="relative ml-auto">
      <summary className="list-none rounded px-1.5 hover:bg-raised hover:text-ink">Settings ▾</summary>
      <div className="absolute right-0 z-10 mt-1 w-72 space-y-3 rounded-lg border border-line bg-panel p-3 text-sm text-ink shadow-pop">
        {status !== 'ended' && (
          <>
            <ModelField
              record={record}
              facts={facts}
              busy={busy}
              onChange={(model) => change(() => client.setModel(id, model))}
            />
            <div className="space-y-1">
              <span className="text-xs text-soft">Permissions</span>
              <GuardedSelect
                session={id}
                label="Permissions"
                className="w-full"
                busy={busy}
                value={policy.approval}
                choices={APPROVAL_CHOICES}
                isStricter={(approval) => isStricter(approval, policy.approval)}
                onChange={(approval) => change(() => client.setMode(id, { policy: { ...policy, approval } }))}
              />
            </div>
            {facts.modes.length > 0 && (
              <div className="space-y-1">
                <span className="text-xs text-soft">Mode of the agent</span>
                <GuardedSelect
                  session={id}
                  label="Mode of the agent"
                  className="w-full"
                  busy={busy}
                  value={facts.mode ?? ''}
                  choices={facts.modes.map((mode) => ({
                    value: mode.id,
                    name: showHidden(mode.name ?? mode.id),
                  }))}
                  // What a mode allows is known to the agent alone.
                  isStricter={() => false}
                  onChange={(mode) => change(() => client.setMode(id, { mode }))}
                />
              </div>
            )}
            {verbs.length > 0 && (
              <ul aria-label="Commands of the agent">
                {verbs.map(({ name, run: begin }) => (
                  <li key={name}>
                    <button
                      type="button"
                      className="w-full rounded px-1.5 py-1 text-left hover:bg-raised"
                      onClick={() => {
                        if (menu.current) menu.current.open = false
                        begin()
                      }}
                    >
                      {name}
                    </button>
                  </li>
                ))}
              </ul>
            )}
            <HandOverField
              record={record}
              busy={busy}
              onChoose={({ id: agent, name }) =>
                run(async () => {
                  await client.continueWith(id, { agent })
                  setNote(`${name} continues.`)
                })
              }
            />
            <Button
              look="danger"
              className="w-full"
              disabled={busy}
              onClick={() => run(() => client.end(id))}
            >
              End session
            </Button>
          </>
        )}
        <DeleteButton record={record} />
        {(error ?? note) !== undefined && (
          <p role="status" className={error === undefined ? 'text-soft' : 'text-bad'}>
            {error ?? note}
          </p>
        )}
      </div>
    </details>
  )
}

/** Closes the menu with Escape, and by a press anywhere else. */
function closeOutside(menu: HTMLDetailsElement | null): () => void {
  const close = (event: Event) => {
    if (!menu?.open) return
    const isEscape = event instanceof KeyboardEvent && event.key === 'Escape'
    const isOutside =
      event.type === 'pointerdown' && event.target instanceof Node && !menu.contains(event.target)
    if (!isEscape && !isOutside) return
    menu.open = false
    if (isEscape) menu.querySelector('summary')?.focus()
  }
  addEventListener('keydown', close)
  addEventListener('pointerdown', close)
  return () => {
    removeEventListener('keydown', close)
    removeEventListener('pointerdown', close)
  }
}

interface ModelFieldProps extends SettingsMenuProps {
  busy: boolean
  onChange(model: string | null): void
}

function ModelField({ record, facts, busy, onChange }: ModelFieldProps) {
  const current = record.model ?? facts.model ?? ''
  if (facts.models.length > 0) {
    return (
      <label className="block">
        <span className="text-xs text-soft">Model</span>
        <select
          className="w-full"
          disabled={busy}
          value={current}
          onChange={(event) => onChange(event.target.value)}
        >
          {facts.models.some((model) => model.id === current) || (
            <option value={current}>{current || 'default'}</option>
          )}
          {facts.models.map((model) => (
            <option key={model.id} value={model.id}>
              {showHidden(model.name ?? model.id)}
            </option>
          ))}
        </select>
      </label>
    )
  }
  return (
    <form
      className="flex items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        const model = String(new FormData(event.currentTarget).get('model') ?? '').trim()
        onChange(model === '' ? null : model)
      }}
    >
      <label className="min-w-0 flex-1">
        <span className="text-xs text-soft">Model</span>
        <input name="model" className="w-full" defaultValue={current} placeholder="the agent's default" />
      </label>
      <Button type="submit" disabled={busy}>
        Set
      </Button>
    </form>
  )
}
