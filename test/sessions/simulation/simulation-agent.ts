import type { AgentHistory, Note } from '../../../faults/fakes/history.ts'
import { at, isRecord, textAt } from '../../../faults/fakes/native.ts'
import type { FakeRun } from '../fake-driver.ts'
import { asks, init, result, said } from '../house.ts'

/** The agent in one simulated process: works on the prompts it receives, and keeps a history as fake agents do. */
export class SimulatedAgent implements AgentHistory {
  readonly process: string
  readonly notes: Note[]
  readonly run: FakeRun
  readonly epoch: number
  readonly #isLive: boolean
  /** The prompts that it has received and not finished, by name. */
  readonly #prompts: string[] = []
  #heard = 0
  #texts = 0
  #asked = 0

  constructor(run: FakeRun) {
    const [session = '', epoch = ''] = run.context.runId.split('.')
    this.run = run
    this.epoch = Number(epoch)
    this.process = run.context.runId
    this.#isLive = run.launch.kind === 'process' && run.launch.argv.includes('--input-format=stream-json')
    const launch = this.#isLive ? 'live' : 'oneshot'
    this.notes = [{ type: 'started', agent: 'claude', launch, session, epoch: this.epoch }]
  }

  /** Reads everything that was written to it since the last time. */
  hear(): void {
    for (const write of this.run.written.slice(this.#heard)) {
      this.#heard++
      if (write.kind !== 'text') continue
      if (!this.#isLive) this.#prompted(write.text)
      else for (const line of write.text.split('\n')) if (line !== '') this.#hearLine(JSON.parse(line))
    }
  }

  speak(): void {
    this.hear()
    const [name] = this.#prompts
    if (name === undefined) return
    const text = `${name}.${++this.#texts} `
    this.notes.push({ type: 'wrote', name, text })
    this.#say(init, said(text, `msg_${this.process}_${this.#texts}`))
  }

  ask(): void {
    this.hear()
    const [name] = this.#prompts
    if (name === undefined || !this.#isLive) return
    const call = `${name}#${++this.#asked}`
    this.notes.push({ type: 'asked', name, call })
    this.#say(asks(call, 'Bash', call))
  }

  /** Ends its oldest prompt; a process of one turn may exit with it. */
  finish(exits: boolean): void {
    this.hear()
    const name = this.#prompts.shift()
    if (name === undefined) return
    this.notes.push({ type: 'ended', name, how: 'done' })
    this.#say(result(`${name} done`))
    if (!this.#isLive && exits) this.run.die({ code: 0 })
  }

  #hearLine(message: unknown): void {
    const type = at(message, 'type')
    if (type === 'user') this.#prompted(textAt(message, 'message', 'content', 0, 'text'))
    if (type === 'control_response') {
      const allowed = textAt(message, 'response', 'response', 'behavior') === 'allow'
      const call = textAt(message, 'response', 'request_id')
      this.notes.push({ type: 'answered', call, decision: allowed ? 'allow' : 'deny' })
      if (allowed) this.notes.push({ type: 'ran', call })
    }
    if (isRecord(message) && textAt(message, 'request', 'subtype') === 'interrupt')
      this.notes.push({ type: 'interrupted', name: this.#prompts[0] })
  }

  #prompted(text: string): void {
    const [name = ''] = text.split(' ')
    this.#prompts.push(name)
    this.notes.push({ type: 'prompt', name, text })
  }

  #say(...messages: object[]): void {
    for (const message of messages) this.notes.push({ type: 'line', text: JSON.stringify(message) })
    this.run.say(...messages)
  }
}
