import { type Fields, isFields } from './fields.ts'
import type { NativeCall } from './scenario.ts'

export type ApiId = 'messages' | 'responses' | 'chat' | 'gemini'

/** A request to the model, the same for every API. */
export interface ModelCall {
  readonly api: ApiId
  readonly model: string
  readonly streaming: boolean
  readonly tools: readonly OfferedTool[]
  /** The conversation so far, without system prompts. */
  readonly messages: readonly Message[]
  /** The system prompt, from programs that say there where files belong. */
  readonly system?: string
}

export interface Message {
  readonly role: 'user' | 'assistant' | 'tool'
  readonly text: string
}

export interface OfferedTool {
  readonly name: string
  readonly namespace?: string
  /** The names of its arguments; absent when it takes free text, or does not tell. */
  readonly parameters?: readonly string[]
}

/** A tool with the arguments that its JSON Schema names. */
export function offeredTool(name: string, schema: Fields, namespace?: string): OfferedTool {
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(isFields(schema.properties) && { parameters: Object.keys(schema.properties) }),
  }
}

/** Whether the program could run this call: the tool is there, and takes these arguments. */
export function isOffered({ tools }: ModelCall, { name, namespace, input }: NativeCall): boolean {
  return tools.some((tool) => {
    if (tool.name !== name || tool.namespace !== namespace) return false
    return (
      typeof input === 'string' || Object.keys(input).every((key) => tool.parameters?.includes(key) ?? true)
    )
  })
}
