import { useState } from 'react'
import { Button } from '../ui/button.tsx'
import { clickedBy, useAnswerGate } from './use-answer-gate.ts'

interface GuardedSelectProps<Value extends string> {
  session: string
  label: string
  value: Value
  choices: readonly { value: Value; name: string }[]
  busy: boolean
  className: string
  /** Whether a choice can only ask more often. Every other choice waits for *Apply*. */
  isStricter(value: Value): boolean
  onChange(value: Value): void
}

/**
 * Chooses what a session may do without asking. A letter changes a list that has the focus, and the letters of answers
 * are letters: so a choice that may allow more is applied by a button.
 */
export function GuardedSelect<Value extends string>({
  session,
  label,
  value,
  choices,
  busy,
  className,
  isStricter,
  onChange,
}: GuardedSelectProps<Value>) {
  const [choice, setChoice] = useState<{ from: Value; to: Value }>()
  // A value that changed meanwhile needs another choice.
  const chosen = choice?.from === value ? choice.to : value
  const change = (to: Value) => {
    setChoice(undefined)
    onChange(to)
  }
  return (
    <>
      <select
        aria-label={label}
        className={className}
        disabled={busy}
        value={chosen}
        onChange={({ target }) => {
          const next = choices.find((one) => one.value === target.value)
          if (!next) return
          if (isStricter(next.value)) change(next.value)
          else setChoice({ from: value, to: next.value })
        }}
      >
        {choices.map((one) => (
          <option key={one.value} value={one.value}>
            {one.name}
          </option>
        ))}
      </select>
      {chosen !== value && (
        <Apply
          key={chosen}
          id={`${session} ${label} ${chosen}`}
          busy={busy}
          onApply={() => change(chosen)}
          onCancel={() => setChoice(undefined)}
        />
      )}
    </>
  )
}

interface ApplyProps {
  id: string
  busy: boolean
  onApply(): void
  onCancel(): void
}

function Apply({ id, busy, onApply, onCancel }: ApplyProps) {
  const gate = useAnswerGate(id, [])
  return (
    <span ref={gate.element} className="inline-flex gap-1">
      <Button
        look="main"
        size="small"
        aria-disabled={busy || gate.readiness !== 'ready'}
        onClick={(event) => {
          if (!busy && gate.mayAllow(clickedBy(event))) onApply()
        }}
      >
        Apply
      </Button>
      <Button look="quiet" size="small" onClick={onCancel}>
        Cancel
      </Button>
    </span>
  )
}
