import { MainstemError } from '../model/outcome/mainstem-error.ts'

/**
 * Waits until an answer is accepted. Ignores a late one: the request was answered, withdrawn or replaced, and the log
 * shows it. `refused` handles any other refusal, because an agent must not wait for an answer that does not come.
 */
export async function submitAnswer(
  answered: Promise<unknown>,
  refused: (thrown: unknown) => Promise<unknown> = (thrown) => Promise.reject(thrown),
): Promise<void> {
  try {
    await answered
  } catch (thrown) {
    if (!isLate(thrown)) await refused(thrown)
  }
}

function isLate(thrown: unknown): boolean {
  if (!(thrown instanceof MainstemError)) return false
  return thrown.code === 'request_not_found' || thrown.code === 'conflict'
}
