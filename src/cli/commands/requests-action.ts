import type { OpenRequest } from '../../client/index.ts'
import type { RequestAnswer } from '../../model/index.ts'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import { connect } from '../contexts/connect.ts'
import { MAINSTEM } from '../own-command.ts'
import { printableJson } from '../render/printable.ts'
import { Printer } from '../render/printer.ts'
import { renderRequest } from '../render/requests.ts'
import { askingView, screenOn } from '../render/show.ts'
import { newView } from '../render/view.ts'
import { askAt } from '../terminal/ask.ts'
import { interrupts } from '../terminal/interrupts.ts'
import { Keyboard } from '../terminal/keyboard.ts'
import { byIdOrSession, byReference, referenceOf } from '../turn/request-ref.ts'
import { sessionOf, shortId } from '../turn/session-ref.ts'
import type { RequestsFlags } from './requests.ts'

const DONE = { allow: 'allowed', deny: 'denied', answered: 'answered' } as const

export async function requests(
  action: string,
  ref: string | undefined,
  answers: readonly string[],
  flags: RequestsFlags,
): Promise<void> {
  const { client } = await connect(flags)
  const open = await client.requests()
  if (action === 'ls') return list(open, flags)
  if (ref === undefined) {
    throw new MainstemError('invalid_request', `requests ${action}: name a request`, {
      advice: 'List them with `mainstem requests`.',
    })
  }
  const shown = byReference(ref, open)
  const found = shown ?? (await byIdOrSession(ref, open, (one) => sessionOf(client, one)))
  const decided =
    shown || action === 'deny'
      ? decisionOf(action, found, answers, flags)
      : await asked(action, found, answers)
  if (!decided) return leftOpen(found)
  const { requestId } = found.request
  await client.answer(found.session, requestId, decided)
  console.log(`${DONE[decided.decision]} ${requestId}`)
}

async function list(open: readonly OpenRequest[], { json }: RequestsFlags): Promise<void> {
  const { stdout } = process
  const printer = new Printer(stdout)
  if (json) {
    const lines = open.map((one) => `${printableJson({ ...one, reference: referenceOf(one) })}\n`)
    return printer.print(lines.join(''))
  }
  if (open.length === 0) return printer.print('no open requests\n')
  const view = newView(screenOn(stdout))
  const { dim } = view.screen.colors
  for (const one of open) {
    const keys = one.request.kind === 'question' ? 'answer' : 'allow | deny'
    await printer.print(
      [
        ...renderRequest(view, one.request),
        view.screen.line('  ', [dim, `${one.agent} in session ${shortId(one.session)}`]),
        // A reference that is cut would name nothing.
        view.screen.block('  ', `${MAINSTEM} requests ${keys} ${referenceOf(one)}`, dim),
        view.screen.gap(),
      ].join(''),
    )
  }
}

/** Shows a request that was named without its reference, and asks; undefined if the person leaves it open. */
async function asked(
  action: string,
  one: OpenRequest,
  given: readonly string[],
): Promise<RequestAnswer | undefined> {
  const { stdin, stderr } = process
  if (!stdin.isTTY || !stderr.isTTY || given.length > 0) throw unseen(action, one)
  using interrupted = interrupts()
  using keyboard = new Keyboard({ input: stdin, output: stderr })
  const printer = new Printer(stderr)
  const view = askingView(stderr)
  const print = (text: string) => printer.print(text)
  await print(renderRequest(view, one.request).join(''))
  const ask = askAt({ keyboard, output: stderr, view, print })
  const answer = await ask(one.request, { signal: interrupted, waiting: () => 0 })
  if (!answer) return undefined
  const { type: _, requestId: __, ...decision } = answer
  return { ...decision, inputDigest: one.request.inputDigest }
}

/** An id says nothing of what the agent asks for now. */
function unseen(action: string, one: OpenRequest): MainstemError {
  const message = `requests ${action}: needs the reference that is shown below the request`
  return new MainstemError('invalid_request', message, {
    advice: `Read the request with \`mainstem requests\`; its reference is ${referenceOf(one)}`,
  })
}

function leftOpen(one: OpenRequest): void {
  console.error(`not answered: ${referenceOf(one)}`)
  process.exitCode = 1
}

function decisionOf(
  action: string,
  { request }: OpenRequest,
  given: readonly string[],
  { session, reason }: RequestsFlags,
): RequestAnswer {
  const { inputDigest, questions = [] } = request
  if (action === 'allow') return { inputDigest, decision: 'allow', scope: session ? 'session' : 'once' }
  if (action === 'deny')
    return { inputDigest, decision: 'deny', ...(reason !== undefined && { message: reason }) }
  if (given.length !== questions.length) {
    const texts = questions.map(({ text }) => `"${text}"`).join(', ')
    throw new MainstemError(
      'invalid_request',
      `${questions.length} answers are needed, and ${given.length} given`,
      {
        advice: questions.length === 0 ? 'It is a permission: use allow or deny.' : `Answer ${texts}.`,
      },
    )
  }
  const answers = Object.fromEntries(questions.map(({ id }, index) => [id, [given[index] ?? '']]))
  return { inputDigest, decision: 'answered', answers }
}
