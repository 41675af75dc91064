import { board } from '../../agents/board/agent.ts'
import { MainstemError } from '../../model/index.ts'
import { translateError } from '../agent-error.ts'
import { type AgentRequest, AgentType, type SessionConfig } from '../config.ts'
import type { AgentEvent } from '../event.ts'
import type { AdaptedSession, NativeRequest, ProtocolAdapter } from '../protocol-adapter.ts'
import { type AdapterOptions, Fold, frameOf } from './fold.ts'
import { configFrom, type NativeConfig } from './native-config.ts'

const SESSIONS = { method: 'POST', path: '/api/sessions' }

const CONFIG: NativeConfig = {
  modes: {},
  texts: { agentId: 'agentType', projectId: 'projectId' },
  lists: {},
  maxTurns: [],
}

/** An adapter for a board can be given the agent that the board runs. */
export interface BoardAdapterOptions extends AdapterOptions {
  /** The agent that the board runs; Claude by default, whose protocol the document takes it for. */
  agentType?: AgentType
}

/** A board server: sessions of any agent, as `plan`, `log`, `action`, `toolResult` and `diff`. */
export class BoardAdapter implements ProtocolAdapter {
  readonly #options: BoardAdapterOptions

  constructor(options: BoardAdapterOptions = {}) {
    this.#options = options
  }

  /** The messages of one session. Their end without an `error` or `cancelled` means that the session is done. */
  async *adaptEvents(
    nativeEvents: AsyncIterable<unknown> | Iterable<unknown>,
    { agentType }: AdaptedSession = {},
  ): AsyncGenerator<AgentEvent, void, void> {
    const { live } = board.launches
    if (!live) throw new MainstemError('unsupported_option', 'a board has a live launch alone')
    const { prompt = '', agentType: given = agentType ?? AgentType.claude } = this.#options
    const fold = new Fold({ agent: given, recipe: live, launch: 'live' }, this.#options, (conversation) => {
      conversation.sent(frameOf('http', { ...SESSIONS, body: { prompt } }))
      conversation.begin(conversation.accept(), prompt)
    })
    for await (const native of nativeEvents) {
      fold.hear(native)
      yield* fold.events()
    }
    fold.conclude(frameOf('http', { tag: 'state', status: 200, body: { state: 'done' } }))
    fold.end()
    yield* fold.events()
  }

  translateRequest({ agentType, prompt, sessionId, config = {} }: AgentRequest): NativeRequest {
    const { projectId, ...wishes } = config
    const wish = Object.entries({ sessionId, ...wishes }).find(([, value]) => value !== undefined)
    if (wish) {
      const refusal = new MainstemError('unsupported_option', `${wish[0]}: a board has no such setting`)
      throw translateError(refusal, agentType)
    }
    const body = { agentId: agentType, ...(projectId !== undefined && { projectId }), prompt }
    return { kind: 'http', ...SESSIONS, body }
  }

  translateConfig(nativeConfig: Readonly<Record<string, unknown>>): SessionConfig {
    return configFrom(CONFIG, nativeConfig)
  }
}
