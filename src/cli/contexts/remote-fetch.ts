import { type NodeFetch, networkFetch, type SocketResponse } from '../../daemon/node-fetch.ts'
import type { ErrorCode } from '../../model/index.ts'
import { codeOf, MainstemError } from '../../model/outcome/mainstem-error.ts'

/** The server that a call was meant for. */
export interface RemotePlace {
  server: string
  /** Certificates to trust besides those of the system. */
  ca?: string | undefined
}

/** Calls a server on another machine. Explains every failure of the network, of TLS and of what stands in between. */
export function remoteFetch({ server, ca }: RemotePlace): NodeFetch {
  const call = networkFetch(ca)
  return async (url, init) => {
    let response: SocketResponse
    try {
      response = await call(url, init)
    } catch (thrown) {
      if (init.signal?.aborted) throw thrown
      throw unreachable(server, thrown)
    }
    const refusal = refusalOf(server, response)
    if (!refusal) return response
    await response.body?.cancel()
    throw refusal
  }
}

const CERTIFICATE =
  'If the server has a certificate of its own, log in again with --ca and the file of its authority. ' +
  'Do not log in if you did not expect this.'
const NETWORK = 'Check the URL, your network and your VPN.'

/** What went wrong before there was a response, by the code of the system or of TLS, and the way out. */
const FAILURES: Readonly<Record<string, readonly [what: string, advice: string]>> = {
  ENOTFOUND: ['its name is unknown', NETWORK],
  EAI_AGAIN: ['its name cannot be looked up', NETWORK],
  ECONNREFUSED: ['nothing listens there', 'Check the port, and whether the server runs.'],
  ECONNRESET: ['it closed the connection', 'Repeat the command. If it fails again, ask the operator.'],
  EHOSTUNREACH: ['there is no route to it', NETWORK],
  ENETUNREACH: ['there is no route to it', NETWORK],
  ETIMEDOUT: ['it does not answer', NETWORK],
  EPROTO: ['it does not speak TLS on this port', 'Check the port of the URL.'],
  ERR_SSL_WRONG_VERSION_NUMBER: ['it does not speak TLS on this port', 'Check the port of the URL.'],
  ERR_SSL_PACKET_LENGTH_TOO_LONG: ['it does not speak TLS on this port', 'Check the port of the URL.'],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    'its certificate belongs to another name',
    'Use the name in the certificate. Do not log in if you did not expect this.',
  ],
  CERT_HAS_EXPIRED: ['its certificate has expired', 'Ask the operator to renew it, and check your clock.'],
  CERT_NOT_YET_VALID: ['its certificate is not valid yet', 'Check the clock of this machine.'],
  DEPTH_ZERO_SELF_SIGNED_CERT: ['its certificate is self-signed', CERTIFICATE],
  SELF_SIGNED_CERT_IN_CHAIN: ['its certificate is from an authority that is not trusted', CERTIFICATE],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ['its certificate is from an authority that is not trusted', CERTIFICATE],
  UNABLE_TO_GET_ISSUER_CERT: ['its certificate is from an authority that is not trusted', CERTIFICATE],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: [
    'its certificate is from an authority that is not trusted',
    CERTIFICATE,
  ],
}

function unreachable(server: string, thrown: unknown): MainstemError {
  const code = String(codeOf(thrown))
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  const [what, advice] = FAILURES[code] ?? [message, NETWORK]
  const detail = code in FAILURES ? ` (${code})` : ''
  return new MainstemError(
    'connection_failed',
    `cannot reach ${server}: ${what}${detail}`,
    { advice },
    { cause: thrown },
  )
}

const JSON_TYPE = /[/+]json\b/

/** A response that no Mainstem server gives for a call of ours, or one that only a new login can change. */
function refusalOf(server: string, { ok, status, headers }: SocketResponse): MainstemError | undefined {
  const fail = (code: ErrorCode, message: string, advice: string) =>
    new MainstemError(code, message, { advice })
  if (status === 401) {
    return fail(
      'unauthorized',
      `${server} does not accept the token`,
      `It is wrong, or it was removed. Log in again: \`mainstem login ${server}\`.`,
    )
  }
  if (status >= 300 && status < 400) {
    const to = headers.get('location') ?? 'another place'
    return fail('protocol_error', `${server} sends us to ${to}`, 'Log in with the URL of the server itself.')
  }
  const type = headers.get('content-type') ?? ''
  if (!ok && !JSON_TYPE.test(type)) {
    if (status === 413) {
      return fail(
        'too_large',
        `the proxy of ${server} refuses a request of this size (status 413)`,
        'Ask the operator to raise its limit, such as `client_max_body_size` of nginx.',
      )
    }
    if (status < 502 || status > 504) return notOurs(server, `status ${status}`)
    return fail(
      'overloaded',
      `the proxy of ${server} has no server that is ready (status ${status})`,
      'Repeat the command in a moment. If it fails again, ask the operator.',
    )
  }
  return type.startsWith('text/html') ? notOurs(server, 'a page') : undefined
}

/** The error of a server that is not Mainstem. */
export function notOurs(server: string, got: string): MainstemError {
  return new MainstemError('protocol_error', `${server} is not a Mainstem server: it answered with ${got}`, {
    advice: 'Check the URL. `mainstem context list` shows the servers that you use.',
  })
}
