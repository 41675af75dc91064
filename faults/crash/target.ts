/** What a server answered. */
export interface Answer {
  status: number
  body: Record<string, unknown>
}

/** What clients use: one server, or several that share a store. */
export interface Target {
  /** The request headers of each principal. */
  readonly principals: ReadonlyMap<string, Record<string, string>>
  /** Where the next connection goes, as soon as there is a server. */
  readonly url: Promise<string>
  /** Undefined when no server answered; it is not known then whether the command was applied. */
  call(route: string, body: unknown, headers: Readonly<Record<string, string>>): Promise<Answer | undefined>
}

/** Sends one request. Undefined when the connection broke or the signal fired. */
export async function request(
  url: string,
  route: string,
  body: unknown,
  headers: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<Answer | undefined> {
  const [method = '', path = ''] = route.split(' ')
  try {
    const response = await fetch(url + path, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
    return { status: response.status, body: JSON.parse((await response.text()) || '{}') }
  } catch {
    return undefined
  }
}
