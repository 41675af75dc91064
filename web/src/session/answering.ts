import { MainstemError, type RequestAnswer, type RequestOpened } from 'mainstem/client'
import { client } from '../app/client.ts'

/** Sends a decision. The result is the reason why it came too late, if it did. */
export async function send(
  session: string,
  { requestId, inputDigest }: RequestOpened,
  answer: Omit<RequestAnswer, 'inputDigest'>,
): Promise<string | undefined> {
  try {
    await client.answer(session, requestId, { ...answer, inputDigest })
    return undefined
  } catch (thrown) {
    if (thrown instanceof MainstemError && thrown.code === 'conflict') return lateReason(thrown)
    throw thrown
  }
}

function lateReason({ message, details }: MainstemError): string {
  const winner = details?.winner
  if (typeof winner !== 'object' || winner === null || !('decision' in winner)) return `Too late: ${message}.`
  const decisions: Readonly<Record<string, string>> = {
    allow: 'allowed',
    deny: 'denied',
    answered: 'answered',
  }
  return `Too late: it was already ${decisions[String(winner.decision)] ?? 'decided'}.`
}
