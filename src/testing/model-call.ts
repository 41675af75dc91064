import { isFields, type JsonFields } from './fields.ts'
import type { NativeCall } from './scenario.ts'

/** The API of a model vendor. */
export type ApiId = 'messages' | 'responses' | 'chat' | 'gemini'

/** A call of the model, the same for every API. */
export interface ModelCall {
  /** The API that was called. */
  readonly api: ApiId
  /** The name of the model. */
  readonly model: string
  /** True if the program requested a stream. */
  readonly streaming: boolean
  /** The tools that the program offers. */
  readonly tools: readonly OfferedTool[]
  /** The conversation so far, without system prompts. */
  readonly messages: readonly ModelMessage[]
  /** The system prompt, for programs that put the paths of files there. */
  readonly system?: string
}

export interface ModelMessage {
  readonly role: 'user' | 'assistant' | 'tool'
  readonly text: string
}

export interface OfferedTool {
  readonly name: string
  readonly namespace?: string
  /** The names of its arguments; absent if it takes free text or has no schema. */
  readonly parameters?: readonly string[]
}

/** A tool with the arguments of its JSON Schema. */
export function offeredTool(name: string, schema: JsonFields, namespace?: string): OfferedTool {
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(isFields(schema.properties) && { parameters: Object.keys(schema.properties) }),
  }
}

/** True if the program offers the tool with these arguments. */
export function isOffered({ tools }: ModelCall, { name, namespace, input }: NativeCall): boolean {
  return tools.some((tool) => {
    if (tool.name !== name || tool.namespace !== namespace) return false
    return (
      typeof input === 'string' || Object.keys(input).every((key) => tool.parameters?.includes(key) ?? true)
    )
  })
}
