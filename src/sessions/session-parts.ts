import type { Agent } from '../agents/agent.ts'
import type { Event } from '../model/index.ts'
import type { SessionState } from '../stores/store.ts'
import { withLoginAdvice } from './agent-advice.ts'
import { AgentProcess } from './agent-process.ts'
import { Answering } from './answering.ts'
import { Changes } from './changes.ts'
import type { Conversation } from './conversation.ts'
import type { SessionDeps } from './deps.ts'
import { Log, type LogPosition } from './log.ts'
import { Mask } from './mask.ts'
import { openConversation } from './open-conversation.ts'
import { secretsFor } from './secrets.ts'
import type { SessionSetup } from './setup.ts'
import { Turns } from './turns.ts'
import { VersionNotices } from './version-notice.ts'
import type { WarmSession } from './warm-pool.ts'

/** The session that owns the parts. */
export interface PartsOwner {
  /** The session, for its place in the pool. */
  session: WarmSession
  /** No turn is open and the queue is empty. */
  idle(): void
  /** Storage failed, or we have a bug. */
  failed(thrown: unknown): void
}

/**
 * The parts of a session, and what each owns: the log (entries, record, effects after a commit), the conversation (the
 * codec state), the process, the settings, the turns with their queue, and the open requests.
 */
export class SessionParts {
  readonly log: Log
  readonly conversation: Conversation
  readonly agent: AgentProcess
  readonly changes: Changes
  readonly turns: Turns
  readonly answering: Answering
  readonly #definition: Agent
  readonly #version: string | undefined
  readonly #versions: VersionNotices

  constructor(
    setup: SessionSetup,
    deps: SessionDeps,
    state: SessionState,
    position: LogPosition,
    { session, idle, failed }: PartsOwner,
  ) {
    const { store, clock, committed, terms } = deps
    const { principal } = state
    const mask = new Mask(secretsFor(setup, principal, deps))
    const log = new Log(state, position, { store, clock, committed, failed, mask, terms })
    const conversation = openConversation(setup, deps, state, this.#emit.bind(this))
    const listener = {
      starting: () => this.changes.restarted(),
      outputRead: () => this.turns.outputRead(),
      exited: () => this.turns.startNext(),
      failed,
    }
    const agent = new AgentProcess(setup, deps, { conversation, log, mask, principal, session }, listener)
    const changes = new Changes(setup, state, { conversation, agent, log })
    const turns = new Turns(setup, deps, state, {
      ...{ conversation, agent, changes, log, mask, idle, failed },
      endStaleProcess: () => session.closeIdle(),
    })
    this.answering = new Answering(setup, deps, {
      ...{ conversation, agent, log, failed },
      interrupt: () => turns.interrupt('interrupt'),
      waiting: (waiting) => turns.waitForPerson(waiting),
    })
    this.log = log
    this.conversation = conversation
    this.agent = agent
    this.changes = changes
    this.turns = turns
    this.#definition = setup.agent
    this.#version = setup.version
    this.#versions = new VersionNotices(setup.agent)
  }

  /** Logs an event of the conversation and passes it to the parts that react to it. */
  #emit(emitted: Event, turn: number | undefined, native: number | undefined): void {
    const event = emitted.type === 'turn.completed' ? withLoginAdvice(emitted, this.#definition) : emitted
    this.log.add(event, turn, native)
    this.turns.observe(event, native)
    switch (event.type) {
      case 'request.opened':
        this.answering.opened(event)
        break
      case 'request.withdrawn':
        this.answering.withdrawn(event.requestId)
        break
      case 'session.updated':
        this.log.resumable(this.conversation.nativeIds)
        this.#noticeVersion(event.agentVersion, turn)
        break
      case 'turn.started':
        this.#noticeVersion(this.#version, turn)
        break
      case 'turn.completed':
        this.log.resumable(this.conversation.nativeIds)
        this.turns.completed(event)
    }
  }

  #noticeVersion(version: string | undefined, turn: number | undefined): void {
    const notice = this.#versions.of(version)
    if (notice) this.#emit(notice, turn, undefined)
  }
}
