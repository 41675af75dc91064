import { isRecord, type Native, textAt } from './native.ts'

interface Message {
  info: Native
  parts: Map<string, Native>
}

/** What `opencode serve` keeps of its events, for clients that missed them. */
export class OpencodeStore {
  readonly #messages = new Map<string, Message>()
  readonly #permissions = new Map<string, Native>()
  readonly #busy = new Set<string>()

  add(type: string, properties: Native): void {
    const session = textAt(properties, 'sessionID')
    const { info, part } = properties
    if (type === 'message.updated' && isRecord(info)) {
      const message = this.#message(textAt(info, 'id'))
      message.info = { ...message.info, ...info }
    } else if (type === 'message.part.updated' && isRecord(part)) {
      this.#message(textAt(part, 'messageID')).parts.set(textAt(part, 'id'), part)
    } else if (type === 'permission.asked') {
      this.#permissions.set(textAt(properties, 'id'), properties)
    } else if (type === 'permission.replied') {
      this.#permissions.delete(textAt(properties, 'requestID'))
    } else if (type === 'session.status') {
      if (textAt(properties, 'status', 'type') === 'idle') this.#busy.delete(session)
      else this.#busy.add(session)
    }
  }

  /** The answer to a GET; undefined for another path. */
  read(path: string): unknown {
    if (path === '/permission') return [...this.#permissions.values()]
    if (path === '/question' || path.endsWith('/todo')) return []
    if (path === '/session/status')
      return Object.fromEntries([...this.#busy].map((id) => [id, { type: 'busy' }]))
    if (!path.endsWith('/message')) return undefined
    return [...this.#messages.values()].map(({ info, parts }) => ({ info, parts: [...parts.values()] }))
  }

  #message(id: string): Message {
    const known = this.#messages.get(id)
    if (known) return known
    const message = { info: {}, parts: new Map<string, Native>() }
    this.#messages.set(id, message)
    return message
  }
}
