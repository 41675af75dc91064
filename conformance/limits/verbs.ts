import { agents } from '../../src/agents/index.ts'
import { PROGRAMS } from '../programs.ts'
import { type Limit, refused } from './limit.ts'

/** The program has the command, in a form that does not fit ours. */
const OURS = ['codex/oneshot/review', 'gemini/live/rewind']

/** Commands that a launch lacks, with the reason that its refusal gives. */
export const VERB_LIMITS: readonly Limit[] = PROGRAMS.flatMap(({ id, agent, launches }) =>
  launches.flatMap((launch) => {
    const lacks = agents.find((one) => one.id === agent)?.launches[launch]?.lacks ?? {}
    return Object.entries(lacks).map(([verb, why]) => ({
      scenarios: [verb],
      programs: [id],
      launch,
      reason: `${why.charAt(0).toUpperCase()}${why.slice(1)}; refused before it starts.`,
      seen: refused(verb),
      ...(OURS.includes(`${agent}/${launch}/${verb}`) && { ours: true as const }),
    }))
  }),
)
