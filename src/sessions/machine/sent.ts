import type { Start, Write } from '../../agents/agent.ts'
import type { Command, Image } from '../../model/index.ts'
import type { Mask } from '../mask/mask.ts'
import { hiddenOptions } from '../process/without-secrets.ts'

/** The stream of journal frames that were sent to the agent. The agent wrote those of all other streams. */
export const SENT = 'sent'

/**
 * One step of a session towards its agent: the start of a process, a command with the writes it became, or the writes
 * that answer the frame before. With the frames of the agent in between, it determines the state of the codec.
 */
export type Sent = { start: Start } | Written

/** What is written to the agent, and the command that it came from. */
export interface Written {
  command?: Command
  writes: readonly Write[]
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
  const shown = 'start' in sent ? { start: storedStart(sent.start) } : stored(sent, hidden)
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
function stored({ command, writes }: Written, { options, images }: Hidden): Written {
  const values = optionValues(options)
  const hide = (text: string) => {
    const hidden = values.reduce((rest, value) => rest.replaceAll(value, '"[hidden]"'), text)
    return images.reduce((rest, image) => rest.replaceAll(image.data, withoutData(image).data), hidden)
  }
  const hasImages = command?.type === 'prompt' && command.images
  return {
    ...(command && { command: hasImages ? { ...command, images: hasImages.map(withoutData) } : command }),
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
