import type { Outcome } from 'mainstem/client'
import type { BadgeLook } from '../ui/badge.tsx'

/** The label of each outcome. Only `completed` is a success. */
export const OUTCOMES: Record<Outcome, { label: string; look: BadgeLook; meaning: string }> = {
  completed: { label: 'completed', look: 'good', meaning: 'The agent finished its turn.' },
  denied: {
    label: 'denied',
    look: 'bad',
    meaning: 'The agent finished, but a call that it needed was refused.',
  },
  refused: { label: 'refused', look: 'bad', meaning: 'The model declined.' },
  max_steps: { label: 'step limit', look: 'bad', meaning: 'The turn reached its limit of model calls.' },
  max_budget: { label: 'budget limit', look: 'bad', meaning: 'The turn reached its limit of cost.' },
  timeout: { label: 'timeout', look: 'bad', meaning: 'The turn took longer than its limit.' },
  interrupted: { label: 'stopped', look: 'ask', meaning: 'The turn was stopped before its end.' },
  failed: { label: 'failed', look: 'bad', meaning: 'The agent reported an error.' },
  crashed: { label: 'crashed', look: 'bad', meaning: 'The agent exited without a result.' },
  lost: { label: 'lost', look: 'bad', meaning: 'The server that ran the turn went away.' },
}
