import { violations } from '../../test/agents/invariants.ts'
import type { AgentHistory } from '../fakes/history.ts'
import { checkAnswers } from './answers.ts'
import { checkContents } from './contents.ts'
import type { Evidence } from './evidence.ts'
import { Findings } from './findings.ts'
import { checkInterrupts } from './interrupts.ts'
import { checkJournals } from './journals.ts'
import { checkPrompts } from './prompts.ts'

/** Compares what clients, logs and agents know of the same sessions. Pure: all of it is handed in. */
export function check(given: Evidence, found = new Findings()): Findings {
  const evidence = { ...given, histories: given.histories.filter((history) => isKept(history, given)) }
  for (const [session, entries] of evidence.logs) {
    found.add('terminal', ...violations(entries).map((problem) => `${session}: ${problem}`))
    if (evidence.clients.deleted.has(session)) found.add('lost', `${session} was deleted and is there`)
  }
  checkPrompts(evidence, found)
  checkContents(evidence, found)
  checkAnswers(evidence, found)
  checkInterrupts(evidence, found)
  checkJournals(evidence, found)
  checkSecrets(evidence, found)
  return found
}

/** A deleted session has no log to compare with its history. */
function isKept({ notes: [first] }: AgentHistory, { clients }: Evidence): boolean {
  return first?.type !== 'started' || !clients.deleted.has(first.session)
}

function checkSecrets({ logs, journals, secrets }: Evidence, found: Findings): void {
  for (const [kind, kept] of Object.entries({ log: logs, journal: journals })) {
    for (const [session, rows] of kept) {
      const text = secrets.size === 0 ? '' : JSON.stringify(rows)
      for (const secret of secrets.keys())
        if (text.includes(secret)) found.add('secret', `the ${kind} of ${session} has a secret`)
    }
  }
}
