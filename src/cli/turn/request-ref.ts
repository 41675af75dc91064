import type { OpenRequest } from '../../client/index.ts'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import { nearest } from '../../model/text/nearest.ts'
import { shortId } from './session-ref.ts'

const DIGEST = 16

/** `<session>/<request>@<digest>`: names a request together with everything that was shown of it. */
export function referenceOf({ session, request }: OpenRequest): string {
  return `${subjectOf(session, request.requestId)}@${request.inputDigest.slice(0, DIGEST)}`
}

/** Agents choose the ids of requests, so they are encoded: a reference is one word for every shell. */
function subjectOf(session: string, requestId: string): string {
  const encoded = encodeURIComponent(requestId.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16)}`,
  )
  return `${shortId(session)}/${encoded}`
}

/** The request that a reference names; undefined if it is no reference. Refuses one whose request has changed. */
export function byReference(ref: string, open: readonly OpenRequest[]): OpenRequest | undefined {
  const found = open.filter((one) => referenceOf(one) === ref)
  if (found.length > 1) throw severalOf(ref, found)
  if (found[0]) return found[0]
  const [, subject] = /^([0-9a-f]+\/.+)@[^@]*$/.exec(ref) ?? []
  if (subject === undefined) return undefined
  const changed = open.some(({ session, request }) => subjectOf(session, request.requestId) === subject)
  if (!changed) throw notFound(ref, `there is no open request ${ref}`, open)
  throw new MainstemError('conflict', `the agent now asks something else under ${subject}`, {
    advice: 'Read it with `mainstem requests`, and use the reference below it.',
  })
}

/** The request with this id, or the only one of a session. The start of an id is not enough. */
export async function byIdOrSession(
  ref: string,
  open: readonly OpenRequest[],
  sessionOf: (ref: string) => Promise<{ id: string }>,
): Promise<OpenRequest> {
  const [named, another] = open.filter(({ request }) => request.requestId === ref)
  if (named && another) throw severalOf(ref, [named, another])
  if (named) return named
  const session = await sessionOf(ref).catch(() => undefined)
  const found = open.filter((one) => one.session === session?.id)
  if (found.length > 1) throw severalOf(ref, found)
  if (!found[0]) throw notFound(ref, `there is no request "${ref}"`, open)
  return found[0]
}

function severalOf(ref: string, found: readonly OpenRequest[]): MainstemError {
  return new MainstemError('request_not_found', `"${ref}" names several requests`, {
    advice: `Name one of them: ${found.map(referenceOf).join(', ')}`,
  })
}

function notFound(ref: string, message: string, open: readonly OpenRequest[]): MainstemError {
  const near = nearest(
    ref,
    open.flatMap((one) => [one.request.requestId, referenceOf(one)]),
  )
  const meant = near === undefined ? '' : `Did you mean "${near}"? `
  return new MainstemError('request_not_found', message, {
    advice: `${meant}List them with \`mainstem requests\`.`,
  })
}
