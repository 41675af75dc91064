// The Slack message of a request. It shows everything that an answer applies to, or offers no button that allows it.
import {
  approvalFields,
  escapeInvisible,
  type LiveEntry,
  offeredScopes,
  type RequestAnswer,
} from '../src/client/index.ts'

export type SlackRequest = Extract<LiveEntry['event'], { type: 'request.opened' }>

/** What a button carries: Slack sends it back unchanged. */
export interface ButtonChoice {
  session: string
  requestId: string
  answer: RequestAnswer
}

interface SlackButton {
  type: 'button'
  action_id: string
  text: { type: 'plain_text'; text: string }
  value: string
}

export type SlackBlock =
  | { type: 'section'; expand: true; text: { type: 'plain_text'; emoji: false; text: string } }
  | { type: 'actions'; elements: SlackButton[] }

/** Slack accepts 3,000 characters a section, 50 blocks a message, 25 buttons, and 75 characters on a button. */
const SECTION = 1_500
const SECTIONS = 45
const BUTTONS = 25
const LABEL = 75

/** The whole text as sections. Plain text, because markup inside of an input would change what people read. */
function sectionsOf(text: string): SlackBlock[] {
  const parts = text.match(new RegExp(`[^]{1,${SECTION}}`, 'gu')) ?? []
  return parts.map((part) => ({
    type: 'section',
    expand: true,
    text: { type: 'plain_text', emoji: false, text: part },
  }))
}

type Offer = [label: string, answer: Omit<RequestAnswer, 'inputDigest'>]

const DENY: Offer = ['Deny', { decision: 'deny', message: 'Denied in Slack.' }]

/** A message has one row of buttons: it answers one question with predefined answers that fit on them. */
function offersOf(request: SlackRequest): Offer[] {
  const { kind, questions = [] } = request
  const once: Offer = ['Allow once', { decision: 'allow', scope: 'once' }]
  if (kind !== 'question') return offeredScopes(request).includes('once') ? [once, DENY] : [DENY]
  const [question, ...more] = questions
  const labels = question?.options.map(({ label }) => label) ?? []
  const fits = labels.length < BUTTONS && labels.every((label) => escapeInvisible(label).length <= LABEL)
  if (!question || more.length > 0 || question.multiple || !fits) return [DENY]
  return [
    ...labels.map((label): Offer => [label, { decision: 'answered', answers: { [question.id]: [label] } }]),
    DENY,
  ]
}

function textOf(request: SlackRequest): string {
  const questions = (request.questions ?? []).flatMap(({ text, options }) => [
    text,
    ...options.map(
      ({ label, description }) => `- ${label}${description === undefined ? '' : `: ${description}`}`,
    ),
  ])
  const fields = approvalFields(request).map(({ name, text }) => `${name}: ${text}`)
  return [...questions.map(escapeInvisible), ...(request.kind === 'question' ? [] : fields)].join('\n')
}

/** The blocks of a message: everything that the request asks for, and a button for each answer. */
export function blocksOf(session: string, request: SlackRequest): SlackBlock[] {
  const { requestId, inputDigest } = request
  const sections = sectionsOf(textOf(request))
  const isWhole = sections.length <= SECTIONS
  const offers = isWhole ? offersOf(request) : [DENY]
  const elements = offers.map(([label, answer], index): SlackButton => {
    const choice: ButtonChoice = { session, requestId, answer: { ...answer, inputDigest } }
    return {
      type: 'button',
      action_id: `answer-${index}`,
      text: { type: 'plain_text', text: escapeInvisible(label) },
      value: JSON.stringify(choice),
    }
  })
  const open = offers.length === 1 ? sectionsOf('Answer this request on the page: it does not fit here.') : []
  return [...sections.slice(0, SECTIONS), ...open, { type: 'actions', elements }]
}
