import type { EndItem, OutcomeItem } from 'mainstem/client'
import { cost, duration, sentence, tokens } from '../../text/format.ts'
import { showHidden } from '../../text/hidden.ts'
import { Badge } from '../../ui/badge.tsx'
import { OUTCOMES } from '../outcome.ts'

/** The end of a turn: outcome, reason, duration and usage. */
export function OutcomeView({ item: { completed } }: { item: OutcomeItem }) {
  const { outcome, error, durationMs, usage = {}, exit, turn, denials } = completed
  const { label, look, meaning } = OUTCOMES[outcome]
  const ended =
    exit?.signal ?? (exit?.code === undefined || exit.code === 0 ? undefined : `exit ${exit.code}`)
  return (
    <div className="border-b border-line pb-3">
      <p className="flex flex-wrap items-center gap-x-2 text-xs text-soft" title={meaning}>
        <Badge look={look}>{label}</Badge>
        <span>turn {turn}</span>
        <span>{duration(durationMs)}</span>
        {usage.total !== undefined && <span>{tokens(usage)}</span>}
        {usage.costUsd !== undefined && <span>{cost(usage)}</span>}
        {denials > 0 && <span>{denials} denied</span>}
        {ended !== undefined && <span>{showHidden(ended)}</span>}
      </p>
      {outcome !== 'completed' && !error && <p className="mt-1 text-sm">{meaning}</p>}
      {error && (
        <p className="mt-1 text-sm break-words whitespace-pre-wrap text-bad">
          {showHidden(sentence(error.message))} <span className="font-mono text-xs">({error.code})</span>
          {error.advice !== undefined && <span className="block text-ink">{showHidden(error.advice)}</span>}
        </p>
      )}
    </div>
  )
}

export function EndView({ item: { ended } }: { item: EndItem }) {
  return (
    <p className="text-center text-xs text-soft">
      Session ended: {showHidden(ended.reason)}
      {ended.error && ` (${showHidden(ended.error.message)})`}
    </p>
  )
}
