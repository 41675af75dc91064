import type { Question } from '../../model/index.ts'
import { askQuestion, onOneLine, pick, type QuestionPlace } from './question-prompt.ts'

const SEND = -1

/**
 * Asks the questions of a request. The answers to several of them are shown together, and can be changed before they are
 * sent. Undefined if the person cancels.
 */
export async function askQuestions(
  questions: readonly Question[],
  place: QuestionPlace,
): Promise<Record<string, string[]> | undefined> {
  const given: string[][] = []
  for (const [index, asked] of questions.entries()) {
    const answer = await askQuestion(asked, place, numberOf(index, questions))
    if (!answer) return undefined
    given.push(answer)
  }
  while (questions.length > 1) {
    const choice = await review(questions, given, place)
    const asked = questions[choice ?? SEND]
    if (choice === undefined) return undefined
    if (!asked) break
    // Escape keeps the answer that was given.
    given[choice] = (await askQuestion(asked, place, numberOf(choice, questions))) ?? given[choice] ?? []
  }
  return Object.fromEntries(questions.map(({ id }, index) => [id, given[index] ?? []]))
}

function numberOf(index: number, { length }: readonly Question[]): string {
  return length === 1 ? '' : `${index + 1} of ${length} · `
}

/** The question whose answer is changed, or `SEND`. */
async function review(
  questions: readonly Question[],
  given: readonly (readonly string[])[],
  place: QuestionPlace,
): Promise<number | undefined> {
  const changes = questions.map(({ header, text, secret }, value) => {
    const answer = secret ? '••••' : (given[value] ?? []).join(', ')
    return { value, label: `${header ?? text}: ${answer}` }
  })
  const offered = [{ value: SEND, label: 'Send these answers' }, ...changes]
  return pick(onOneLine('Send, or change an answer'), offered, place)
}
