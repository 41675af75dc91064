import { type Agent, type Beat, type Codec, type Emitted, recipe } from '../../src/agents/agent.ts'
import { echo } from '../../src/agents/echo/agent.ts'
import { emit, line, nothing, send, unmapped } from '../../src/agents/kit/decoded.ts'
import { isFields } from '../../src/agents/kit/fields.ts'
import type { Capabilities } from '../../src/model/index.ts'

/** One line of what a puppet is to say, after waiting at the gate where `wait` is set. */
export interface Cue {
  /** A text is a line that is no event. */
  say?: Emitted | string
  wait?: boolean
  /** Says so many texts of so many characters. */
  flood?: { texts: number; size: number }
}

/** The task that makes a puppet say these. */
export const script = (...cues: Cue[]): string => JSON.stringify(cues)

export const text = (messageId: string, value: string): Cue => ({
  say: { type: 'text.completed', messageId, text: value },
})

export const success: Cue = {
  say: { type: 'turn.verdict', evidence: 'success', denials: 0, personDenials: 0 },
}

/** Asks whether it may run `ls`, and waits at the gate before its end. */
export const ASKS = script(
  {
    say: {
      type: 'request.opened',
      requestId: 'r1',
      kind: 'permission',
      blocking: true,
      tool: 'Bash',
      input: { command: 'ls' },
      options: [],
    },
  },
  { ...success, wait: true },
)

const codec: Codec<undefined> = {
  initial: () => undefined,
  decode: (_, frame) =>
    isFields(frame.value) ? emit(frame.value as Emitted) : unmapped('other', frame.text),
  encode: (_, command) =>
    command.type === 'prompt' ? send([line(scriptOf(command.text)), { kind: 'end' }]) : nothing,
  end: () => nothing,
}

const scripts = new Map<string, string>()

/** Gives a script a prompt that a person could have written, for what people look at. */
export function promptFor(prompt: string, cues: string): string {
  scripts.set(prompt, cues)
  return prompt
}

/** The first prompt after a hand-over is the last paragraph, below the recap. */
function scriptOf(prompt: string): string {
  const last = prompt.slice(prompt.lastIndexOf('\n\n') + 1).trim()
  return scripts.get(prompt) ?? scripts.get(last) ?? last
}

function puppetRecipe(more: Partial<Capabilities> = {}, own: Codec<undefined> = codec) {
  if (!echo.launches.oneshot) throw new Error('echo has a oneshot launch')
  const capabilities = { ...echo.launches.oneshot.capabilities, ...more }
  return recipe({ capabilities, codec: own, launch: () => ({ kind: 'builtin', reply }) })
}

/**
 * An agent that says whatever its task tells it to say: its native lines are our own words. Its process ends with the turn,
 * and a prompt that arrives before its exit is lost with it: `able` takes several prompts.
 */
export const puppet: Agent = {
  id: 'puppet',
  name: 'Puppet',
  launches: { live: puppetRecipe(), oneshot: puppetRecipe() },
}

/** A puppet that can be talked to while it works, and says what it was told. */
export const able: Agent = {
  id: 'able',
  name: 'Able puppet',
  launches: {
    live: puppetRecipe(
      { steer: 'folded', setModel: true, setMode: true, images: true, verbs: ['fork'] },
      {
        ...codec,
        encode(_, command) {
          if (command.type === 'set_model')
            return emit({ type: 'session.updated', model: command.model ?? 'default' })
          if (command.type === 'set_policy') return told(command.mode ?? command.policy?.approval ?? '')
          if (command.type === 'steer') return steered(command.text)
          if (command.type === 'close') return send([{ kind: 'end' }])
          return command.type === 'prompt' ? send([line(scriptOf(command.text))]) : nothing
        },
      },
    ),
  },
}

/** A steering that is an event is said as it is; any other text is repeated. */
function steered(text: string) {
  if (!text.startsWith('{')) return told(text)
  const said: Emitted = JSON.parse(text)
  return emit(said)
}

const told = (message: string) =>
  emit({ type: 'notice.raised', level: 'info', code: 'agent_warning', message })

function reply(written: string): Beat[] {
  const cues: Cue[] = JSON.parse(JSON.parse(written))
  return cues.flatMap((cue) => linesOf(cue).map((said) => ({ afterMs: cue.wait ? 1 : 0, line: said })))
}

function linesOf({ say: said, flood }: Cue): string[] {
  if (!flood) return [JSON.stringify(said)]
  const fill = 'x'.repeat(flood.size)
  return Array.from({ length: flood.texts }, (_, index) =>
    JSON.stringify({ type: 'text.completed', messageId: `flood${index}`, text: `${index} ${fill}` }),
  )
}
