import { board } from '../../agents/board/agent.ts'
import { MainstemError } from '../../model/index.ts'
import { translateError } from '../agent-error.ts'
import type { AgentRequest, SessionConfig } from '../config.ts'
import type { AgentEvent } from '../event.ts'
import type { NativeRequest, ProtocolAdapter } from '../protocol-adapter.ts'
import { type AdapterOptions, Fold, frameOf } from './fold.ts'
import { configFrom, type NativeConfig } from './native-config.ts'

const SESSIONS = { method: 'POST', path: '/api/sessions' }

const CONFIG: NativeConfig = {
  modes: {},
  texts: { agentId: 'agentType', projectId: 'projectId' },
  lists: {},
  maxTurns: [],
}

/** A board server: sessions of whatever agent, told as `plan`, `log`, `action`, `toolResult` and `diff`. */
export class BoardAdapter implements ProtocolAdapter {
  readonly #options: AdapterOptions

  constructor(options: AdapterOptions = {}) {
    this.#options = options
  }

  /** The messages of one session. That they end without an `error` or `cancelled` means that it is done. */
  async *adaptEvents(
    nativeEvents: AsyncIterable<unknown> | Iterable<unknown>,
  ): AsyncGenerator<AgentEvent, void, void> {
    const { live } = board.launches
    if (!live) throw new MainstemError('unsupported_option', 'a board has a live launch alone')
    const { prompt = '' } = this.#options
    const fold = new Fold({ agent: board.id, recipe: live, launch: 'live' }, this.#options)
    const { conversation } = fold
    conversation.sent(frameOf('http', { ...SESSIONS, body: { prompt } }))
    conversation.begin(conversation.accept(), prompt)
    yield* fold.events()
    for await (const native of nativeEvents) {
      fold.hear(native)
      yield* fold.events()
    }
    conversation.frame(frameOf('http', { tag: 'state', status: 200, body: { state: 'done' } }))
    conversation.exit({ code: 0 })
    yield* fold.events()
  }

  translateRequest({ agentType, prompt, sessionId, config = {} }: AgentRequest): NativeRequest {
    const { projectId, ...wishes } = config
    const wish = Object.entries({ sessionId, ...wishes }).find(([, value]) => value !== undefined)
    if (wish) {
      const refusal = new MainstemError('unsupported_option', `${wish[0]}: a board takes no such wish`)
      throw translateError(refusal, board.id)
    }
    const body = { agentId: agentType, ...(projectId !== undefined && { projectId }), prompt }
    return { kind: 'http', ...SESSIONS, body }
  }

  translateConfig(nativeConfig: Readonly<Record<string, unknown>>): SessionConfig {
    return configFrom(CONFIG, nativeConfig)
  }
}
