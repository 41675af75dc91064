import { Mask } from '../mask/mask.ts'
import { secretsFor } from '../mask/secrets.ts'
import type { Actor, AuditAction } from '../model/access.ts'
import type { Event } from '../model/index.ts'
import type { SessionState } from '../stores/store.ts'
import type { CommandContext } from './command-context.ts'
import { Continuations } from './continuations/continuations.ts'
import type { SessionDeps } from './deps.ts'
import { Log, type LogPosition } from './log/log.ts'
import { withLoginAdvice } from './machine/agent-advice.ts'
import type { Conversation } from './machine/conversation.ts'
import type { Emit } from './machine/large-values.ts'
import { openConversation } from './machine/open-conversation.ts'
import { VersionNotices } from './machine/version-notice.ts'
import { AgentProcess } from './process/agent-process.ts'
import { Alarms } from './process/alarms.ts'
import { ProcessPlace } from './process/process-place.ts'
import type { SessionSetup } from './process/setup.ts'
import type { Session } from './session.ts'
import { Answering } from './turns/answering.ts'
import { SettingChanges } from './turns/changes.ts'
import { Interrupts } from './turns/interrupts.ts'
import { SecretAnswers } from './turns/secret-answers.ts'
import { Turns } from './turns/turns.ts'

/**
 * The parts of a session, and what each owns: the log (entries, record, effects after a commit), the conversation (the
 * codec state), the process and its place, the settings, the turns with their queue, the interrupts, the answers, and the
 * continuation. Each part finds the others here.
 */
export class SessionParts {
  readonly session: Session
  readonly setup: SessionSetup
  readonly deps: SessionDeps
  readonly state: SessionState
  readonly alarms: Alarms
  readonly log: Log
  readonly mask: Mask
  readonly secretAnswers: SecretAnswers
  readonly conversation: Conversation
  readonly agent: AgentProcess
  readonly changes: SettingChanges
  readonly turns: Turns
  readonly interrupts: Interrupts
  readonly place: ProcessPlace
  readonly answering: Answering
  readonly continuations: Continuations
  readonly #versions: VersionNotices
  /** Set while the state of a process is rebuilt: what is emitted is in the log already. */
  #rebuilding: ((event: Event) => void) | undefined

  constructor(
    session: Session,
    setup: SessionSetup,
    deps: SessionDeps,
    state: SessionState,
    position: LogPosition,
  ) {
    this.session = session
    this.setup = setup
    this.deps = deps
    this.state = state
    const { store, clock, committed, terms } = deps
    this.alarms = new Alarms(deps)
    this.mask = new Mask(secretsFor(setup, state.principal, deps))
    this.secretAnswers = new SecretAnswers(this.mask)
    const failed = (thrown: unknown) => session.lose(thrown)
    this.log = new Log(state, position, { store, clock, committed, failed, mask: this.mask, terms })
    this.conversation = openConversation(setup, deps, state, this.#emit.bind(this))
    this.agent = new AgentProcess(this)
    this.changes = new SettingChanges(this)
    this.turns = new Turns(this)
    this.interrupts = new Interrupts(this)
    this.place = new ProcessPlace(this)
    this.answering = new Answering(this)
    this.continuations = new Continuations(this)
    this.#versions = new VersionNotices(setup.agent)
  }

  /** Adds who sent a command to the audit trail, in the commit of its effect. */
  note(action: AuditAction, actor: Actor | undefined, details?: Record<string, string | number>): void {
    const fact = this.deps.trail?.factOf(action, actor, {
      session: this.setup.id,
      ...(details && { details }),
    })
    if (fact) this.log.note(fact)
  }

  /** Adds the first event of the log, and who asked for the session. */
  open({ actor, forkOf }: CommandContext): void {
    this.conversation.open()
    const { agent, resume } = this.setup
    const from = {
      ...(resume !== undefined && { native: resume }),
      ...(forkOf !== undefined && { of: forkOf }),
    }
    const action = forkOf === undefined ? 'session.created' : 'session.forked'
    this.note(action, actor, { agent: agent.id, ...from })
  }

  /** Runs work that nobody waits for. If it fails, the session fails: storage failed, or we have a bug. */
  async run(work: Promise<unknown>): Promise<void> {
    try {
      await work
    } catch (thrown) {
      this.session.lose(thrown)
    }
  }

  /** What is emitted from now on is in the log already; `see` is called with it. */
  rebuilding(see: (event: Event) => void): void {
    this.#rebuilding = see
  }

  /** Call when the state is rebuilt. */
  rebuilt(): void {
    this.#rebuilding = undefined
  }

  /** Logs an event of the conversation and passes it to the parts that react to it. */
  #emit(...[emitted, turn, native, blobs]: Parameters<Emit>): void {
    const advised = emitted.type === 'turn.completed' ? withLoginAdvice(emitted, this.setup.agent) : emitted
    const event = this.secretAnswers.hide(advised)
    if (this.#rebuilding) {
      // The mask may hold back the end of a text.
      this.mask.pass(event, () => undefined)
      this.#rebuilding(event)
      return
    }
    if (event.type === 'turn.completed') this.continuations.plan(event)
    this.log.add(event, turn, native, blobs)
    this.turns.observe(event, native)
    switch (event.type) {
      case 'request.opened':
        this.answering.opened(event, blobs)
        break
      case 'request.withdrawn':
        this.answering.withdrawn(event.requestId)
        break
      case 'session.updated':
        this.log.resumable(this.conversation.nativeIds)
        this.#noticeVersion(event.agentVersion, turn)
        break
      case 'turn.started':
        this.#noticeVersion(this.setup.version, turn)
        break
      case 'turn.completed':
        this.log.resumable(this.conversation.nativeIds)
        this.interrupts.completed(event)
        this.turns.completed(event)
    }
  }

  #noticeVersion(version: string | undefined, turn: number | undefined): void {
    const notice = this.#versions.of(version)
    if (notice) this.#emit(notice, turn, undefined)
  }
}
