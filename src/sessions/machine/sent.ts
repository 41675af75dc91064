import type { Start, Write } from '../../agents/agent.ts'
import type { Mask } from '../../mask/mask.ts'
import { hiddenOptions } from '../../mask/secrets.ts'
import type { Cause, Command, Image } from '../../model/index.ts'
import type { BeforeStart } from './conversation-deps.ts'

/** The stream of journal frames that were sent to the agent. The agent wrote those of all other streams. */
export const SENT = 'sent'

/** The stream of journal frames that say how far the output of a process was read, for one that outlives its owner. */
export const READ = 'read'

/**
 * One step of a session towards its agent: the start of a process, a command with the writes it became, the writes that
 * answer the frame before, or a decision about the open turn. With the frames of the agent in between, it determines
 * the state of the conversation.
 */
export type Sent = Started | Written | StopStep | Exited

/** `before` is absent for a process that ends with its owner. */
export interface Started {
  start: Start
  before?: BeforeStart
}

/** What is written to the agent, and the command that it came from. */
export interface Written {
  command?: Command
  writes: readonly Write[]
  /** The turn that begins with this step; with the writes, or before them in the frame of the agent. */
  begins?: TurnStart
}

/** A turn that a process works on. */
export interface TurnStart {
  turn: number
  /** When it began, by the wall clock. */
  at: number
  /** When it began, in the unit of process start times, if its tools have to be ended with it. */
  moment?: number | undefined
}

/** The process has exited, and nothing of it is left to read. */
export interface Exited {
  exited: true
}

/** The open turn is being ended. */
export interface StopStep {
  cause: Cause
  why?: string
}

/** Values that the journal must not contain. */
interface Hidden {
  options: Start['options']
  /** Of the last prompt: it may be written long after its command. */
  images: readonly Image[]
  mask: Mask
}

/** The journal text of a step, without secrets and images. */
export function sentText(sent: Sent, hidden: Hidden): string {
  const shown =
    'start' in sent
      ? { ...sent, start: storedStart(sent.start) }
      : 'writes' in sent
        ? stored(sent, hidden)
        : sent
  return JSON.stringify(hidden.mask.isEmpty ? shown : hidden.mask.value(shown))
}

function storedStart({ options, prompt, ...start }: Start): Start {
  const { images, ...rest } = hiddenOptions(options)
  return {
    ...start,
    options: { ...rest, ...(images && { images: images.map(withoutData) }) },
    ...(prompt && { prompt: { ...prompt, images: prompt.images.map(withoutData) } }),
  }
}

/** Hides images, and the values that responses hide, in the command and in what it became. */
function stored({ command, writes, ...rest }: Written, { options, images }: Hidden): Written {
  const values = optionValues(options)
  const hide = (text: string) => {
    const hidden = values.reduce((rest, value) => rest.replaceAll(value, '"[hidden]"'), text)
    return images.reduce((rest, image) => rest.replaceAll(image.data, withoutData(image).data), hidden)
  }
  const hasImages = command?.type === 'prompt' && command.images
  return {
    ...(command && { command: hasImages ? { ...command, images: hasImages.map(withoutData) } : command }),
    ...rest,
    writes: values.length + images.length === 0 ? writes : writes.map((write) => hiddenWrite(write, hide)),
  }
}

function hiddenWrite(write: Write, hide: (text: string) => string): Write {
  if (write.kind === 'text') return { ...write, text: hide(write.text) }
  if (write.kind === 'end' || write.body === undefined) return write
  return { ...write, body: JSON.parse(hide(JSON.stringify(write.body))) }
}

function withoutData(image: Image): Image {
  return { ...image, data: `[${image.data.length} characters]` }
}

/** Variables and headers of the session as JSON texts. */
function optionValues({ env, mcpServers }: Start['options']): string[] {
  const servers = Object.values(mcpServers ?? {})
  const values = [env, ...servers.flatMap((server) => [server.env, server.headers])]
  const texts = values.flatMap((some) => Object.values(some ?? {})).filter((value) => value !== '')
  return texts.map((value) => JSON.stringify(value))
}
