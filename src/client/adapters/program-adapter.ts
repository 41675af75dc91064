import type { Agent, LaunchRecipe, ProcessLaunch, Start } from '../../agents/agent.ts'
import type { AgentEvent } from '../../dialects/unified-event.types.ts'
import { type Command, MainstemError } from '../../model/index.ts'
import { translateError } from '../agent-error.ts'
import type { AgentRequest, SessionConfig } from '../config.ts'
import type { AdaptedSession, NativeRequest, ProtocolAdapter } from '../protocol-adapter.ts'
import { type AdapterOptions, Fold } from './fold.ts'
import { configFrom, type NativeConfig } from './native-config.ts'
import { policyOf } from './policy.ts'

/** Translates for an agent that is a program with a command line and line-based output. */
export class ProgramAdapter implements ProtocolAdapter {
  readonly #agent: Agent
  readonly #config: NativeConfig
  readonly #options: AdapterOptions

  constructor(agent: Agent, config: NativeConfig, options: AdapterOptions) {
    this.#agent = agent
    this.#config = config
    this.#options = options
  }

  async *adaptEvents(
    nativeEvents: AsyncIterable<unknown> | Iterable<unknown>,
    _session?: AdaptedSession,
  ): AsyncGenerator<AgentEvent, void, void> {
    const native = { agent: this.#agent.id, recipe: this.#recipe, launch: 'oneshot' } as const
    // A program that was started for one prompt runs one turn, from its first line to its last.
    const fold = new Fold(native, this.#options, (conversation) =>
      conversation.begin(conversation.accept(), this.#options.prompt),
    )
    for await (const native of nativeEvents) {
      fold.read(native)
      yield* fold.events()
    }
    fold.end()
    yield* fold.events()
  }

  translateRequest(request: AgentRequest): NativeRequest {
    try {
      return this.#requestOf(request)
    } catch (thrown) {
      throw translateError(thrown, this.#agent.id)
    }
  }

  translateConfig(nativeConfig: Readonly<Record<string, unknown>>): SessionConfig {
    return { agentType: this.#agent.id, ...configFrom(this.#config, nativeConfig) }
  }

  get #recipe(): LaunchRecipe {
    const { oneshot } = this.#agent.launches
    if (!oneshot) throw new MainstemError('unsupported_option', `${this.#agent.id} has no one-shot launch`)
    return oneshot
  }

  #requestOf({ prompt, sessionId, config = {} }: AgentRequest): NativeRequest {
    const cwd = config.workingDirectory ?? this.#options.workingDirectory
    const start: Start = {
      launch: 'oneshot',
      cwd: cwd ?? '',
      policy: policyOf(config),
      options: config.model === undefined ? {} : { model: config.model },
      epoch: 1,
      ...(sessionId !== undefined && { resume: sessionId }),
    }
    const { argv, env } = this.#launchOf(start)
    const { maxSteps, ...free } = start.policy
    // A server counts model calls itself, but without one the agent must support the limit.
    if (maxSteps !== undefined && `${this.#launchOf({ ...start, policy: free }).argv}` === `${argv}`)
      throw new MainstemError('unsupported_option', `${this.#agent.id} cannot limit its model calls`)
    const input = this.#inputOf(start, prompt)
    return { kind: 'process', argv, env, ...(cwd !== undefined && { cwd }), input }
  }

  #launchOf(start: Start): ProcessLaunch {
    const launch = this.#recipe.launch(start)
    if (launch.kind === 'process') return launch
    throw new MainstemError('unsupported_option', `${this.#agent.id} is not run as a program`)
  }

  #inputOf(start: Start, prompt: string): string {
    const { codec } = this.#recipe
    const state = codec.initial(start)
    const commands: Command[] = [{ type: 'open' }, { type: 'prompt', text: prompt }]
    return commands
      .flatMap((command) => codec.encode(state, command).writes)
      .map((write) => (write.kind === 'text' ? write.text : ''))
      .join('')
  }
}
