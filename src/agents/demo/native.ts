import * as z from 'zod'
import { FileChanged, ToolStarted } from '../../model/events/tool.ts'
import { PlanItem } from '../../model/events/work.ts'
import { Usage } from '../../model/index.ts'

const id = z.string()
const agent = z.string().optional().describe('the sub-agent that speaks or works')

const Hello = z.object({
  type: z.literal('hello'),
  model: z.string(),
  tools: z.array(z.string()),
  note: z.string(),
})
const Delta = z.object({
  type: z.literal('delta'),
  of: z.enum(['text', 'thinking']),
  id,
  text: z.string(),
  agent,
})
const Emitted = z.object({ type: z.literal('said'), id })
const Plan = z.object({ type: z.literal('plan'), items: z.array(PlanItem) })
const Call = z.object({
  type: z.literal('call'),
  id,
  ...ToolStarted.pick({ name: true, kind: true, title: true, input: true, locations: true }).shape,
  agent,
})
const Result = z.object({
  type: z.literal('result'),
  id,
  status: z.enum(['success', 'error', 'denied']),
  output: z.string().optional(),
  exitCode: z.int().optional(),
  ms: z.int().optional(),
  change: FileChanged.pick({ path: true, change: true, diff: true, before: true, after: true }).optional(),
})

/** Requests approval before the call runs; the decision selects the scene. */
const Ask = z.object({
  type: z.literal('ask'),
  id,
  call: z.string(),
  title: z.string(),
  allow: z.string(),
  deny: z.string(),
})
/** Each answer selects a scene; a declined question selects `otherwise`. */
const Question = z.object({
  type: z.literal('question'),
  id,
  header: z.string(),
  text: z.string(),
  answers: z.array(z.object({ label: z.string(), description: z.string(), scene: z.string() })),
  otherwise: z.string(),
})
const Spawn = z.object({
  type: z.literal('spawn'),
  id,
  call: z.string(),
  label: z.string(),
  prompt: z.string(),
})
const Return = z.object({ type: z.literal('return'), id, summary: z.string(), ms: z.int() })
const Spent = z.object({ type: z.literal('spent'), usage: Usage, agent })
const End = z.object({ type: z.literal('end'), result: z.string() })

/** The output of the demo, one object per line. */
export const DemoLine = z.discriminatedUnion('type', [
  Hello,
  Delta,
  Emitted,
  Plan,
  Call,
  Result,
  Ask,
  Question,
  Spawn,
  Return,
  Spent,
  End,
])
export type DemoLine = z.infer<typeof DemoLine>
export type DemoLineOf<Type extends DemoLine['type']> = Extract<DemoLine, { type: Type }>

/** The prompt that a line answers, to recognise output scheduled before an interrupt. */
export const Stamp = z.object({ run: z.int() })

/** The input of the demo, one object per line. */
export const Play = z.object({ ...Stamp.shape, scene: z.string() })
