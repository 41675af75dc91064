import type { OpenRequest } from '../../client/index.ts'
import type { RequestAnswer } from '../../model/index.ts'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import { nearest } from '../../model/text/nearest.ts'
import { connect } from '../contexts/connect.ts'
import { MAINSTEM } from '../own-command.ts'
import { printableJson } from '../render/printable.ts'
import { Printer } from '../render/printer.ts'
import { renderRequest } from '../render/requests.ts'
import { screenOn } from '../render/show.ts'
import { newView } from '../render/view.ts'
import { sessionOf, shortId } from '../turn/session-ref.ts'
import type { RequestsFlags } from './requests.ts'

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
  const found = matchRequest(ref, open) ?? (await onlyOf(ref, open, (one) => sessionOf(client, one)))
  const { requestId } = found.request
  await client.answer(found.session, requestId, decisionOf(action, found, answers, flags))
  console.log(`${action === 'answer' ? 'answered' : action === 'allow' ? 'allowed' : 'denied'} ${requestId}`)
}

async function list(open: readonly OpenRequest[], { json }: RequestsFlags): Promise<void> {
  const { stdout } = process
  const printer = new Printer(stdout)
  if (json) return printer.print(open.map((one) => `${printableJson(one)}\n`).join(''))
  if (open.length === 0) return printer.print('no open requests\n')
  const view = newView(screenOn(stdout))
  for (const { session, agent, request } of open) {
    const keys = request.kind === 'question' ? 'answer' : 'allow | deny'
    await printer.print(
      [
        ...renderRequest(view, request),
        view.screen.line('  ', [
          view.screen.colors.dim,
          `${agent} in session ${shortId(session)} · ${MAINSTEM} requests ${keys} ${request.requestId}`,
        ]),
        view.screen.gap(),
      ].join(''),
    )
  }
}

/** By id or by a unique prefix. */
export function matchRequest(ref: string, open: readonly OpenRequest[]): OpenRequest | undefined {
  const whole = open.filter(({ request }) => request.requestId === ref)
  const found = whole.length > 0 ? whole : open.filter(({ request }) => request.requestId.startsWith(ref))
  if (found.length > 1) {
    const sessions = found.map(({ session }) => shortId(session)).join(', ')
    throw new MainstemError('request_not_found', `${found.length} requests match "${ref}"`, {
      advice: `Name the session instead: ${sessions}`,
    })
  }
  return found[0]
}

async function onlyOf(
  ref: string,
  open: readonly OpenRequest[],
  sessionOf: (ref: string) => Promise<{ id: string }>,
): Promise<OpenRequest> {
  const session = await sessionOf(ref).catch(() => undefined)
  const [only, another] = open.filter((one) => one.session === session?.id)
  if (only && !another) return only
  const near = nearest(
    ref,
    open.map(({ request }) => request.requestId),
  )
  throw new MainstemError(
    'request_not_found',
    another ? `session ${ref} has several requests` : `there is no request "${ref}"`,
    {
      advice: `${near === undefined ? '' : `Did you mean "${near}"? `}List them with \`mainstem requests\`.`,
    },
  )
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
