import {
  commandOf,
  escapeInvisible,
  mcpName,
  proposedChanges,
  type RequestAnswer,
  type RequestOpened,
} from 'mainstem/client'
import { useState } from 'react'
import { useAction } from '../ui/action.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { answerGate } from './answer-gate.ts'
import { send } from './answering.ts'
import { PermissionForm } from './permission-form.tsx'
import { QuestionForm } from './question-form.tsx'
import { type Gate, useAnswerGate } from './use-answer-gate.ts'

const ICONS: Readonly<Record<string, IconName>> = {
  read: 'file',
  edit: 'edit',
  delete: 'trash',
  execute: 'terminal',
  search: 'search',
  fetch: 'globe',
  mcp: 'plug',
}

const KINDS: Record<RequestOpened['kind'], string> = {
  permission: 'Permission',
  question: 'Question',
  plan: 'Plan to approve',
  login: 'Login',
}

/** The identity of a card. A request that changes its input is another card, which nobody has seen yet. */
export const cardId = (session: string, { requestId, inputDigest }: RequestOpened): string =>
  `${session} ${requestId} ${inputDigest}`

/** What the form of a request needs from its card. */
export interface RequestFormProps {
  request: RequestOpened
  busy: boolean
  gate: Gate
  /** Shows every field as the agent sent it, instead of rendering it. */
  raw: boolean
  onAnswer(answer: Omit<RequestAnswer, 'inputDigest'>): void
}

interface RequestCardProps {
  session: string
  request: RequestOpened
  /** The sub-agent that asks, as the conversation names it. */
  subagent?: string | undefined
  /** Called after an answer was sent, with the reason if it came too late: the card is gone by then. */
  onAnswered(late: string | undefined): void
}

/** A request that waits for a person: the whole request, and all answers. Use `cardId` as its key. */
export function RequestCard({ session, request, subagent, onAnswered }: RequestCardProps) {
  const { busy, error, run } = useAction()
  const id = cardId(session, request)
  const gate = useAnswerGate(id)
  const [raw, setRaw] = useState(false)
  const { kind, tool, questions = [], parent } = request
  const asker = parent === undefined ? undefined : escapeInvisible(`sub-agent ${subagent ?? parent}`)
  const Form = questions.length > 0 ? QuestionForm : PermissionForm
  const answer: RequestFormProps['onAnswer'] = (given) =>
    run(async () => {
      answerGate.startAgain(id)
      onAnswered(await send(session, request, given))
    })
  const select = () => answerGate.select(id)
  return (
    <article
      ref={gate.element}
      tabIndex={-1}
      aria-label={labelOf(KINDS[kind], tool, asker)}
      aria-current={gate.selected}
      data-request={request.requestId}
      data-readiness={gate.readiness}
      className={`overflow-hidden rounded-lg border bg-panel ${gate.selected ? 'border-accent ring-2 ring-accent' : 'border-ask/40'}`}
      onFocusCapture={select}
      onPointerDownCapture={select}
    >
      <header className="flex items-center gap-2 bg-ask-wash px-3 py-1.5 text-sm text-ask">
        <Icon name={iconOf(request)} />
        <span className="min-w-0 flex-1 truncate font-medium">
          {wantOf(request)}
          {asker !== undefined && <span className="font-normal"> · {asker}</span>}
        </span>
        {questions.length === 0 && (
          <button
            type="button"
            aria-pressed={raw}
            className="rounded px-1.5 text-xs hover:underline aria-pressed:font-semibold"
            onClick={() => {
              answerGate.startAgain(id)
              gate.box.current?.scrollTo({ top: 0 })
              setRaw(!raw)
            }}
          >
            Raw
          </button>
        )}
      </header>
      <Form request={request} busy={busy} gate={gate} raw={raw} onAnswer={answer} />
      {error !== undefined && (
        <p role="alert" className="px-3 pb-3 text-sm text-bad">
          {error}
        </p>
      )}
    </article>
  )
}

function labelOf(kind: string, tool: string | undefined, asker: string | undefined): string {
  const subject = tool === undefined ? kind : `${kind}: ${escapeInvisible(tool)}`
  return asker === undefined ? subject : `${subject}, ${asker}`
}

/** What the agent wants, in words. */
function wantOf({ kind, tool, toolKind, input, questions = [] }: RequestOpened): string {
  if (questions.length > 0) return questions.length === 1 ? 'Question' : `${questions.length} questions`
  if (kind !== 'permission') return KINDS[kind]
  const mcp = tool === undefined ? undefined : mcpName(tool)
  if (mcp) return `Call ${escapeInvisible(mcp.server)} › ${escapeInvisible(mcp.tool)}`
  if (commandOf(input)) return 'Run a command'
  const { changes } = proposedChanges(input)
  const [first] = changes
  const files = new Set(changes.map(({ path }) => path)).size
  if (files > 1) return `Change ${files} files`
  if (first)
    return { created: 'Write a file', modified: 'Edit a file', deleted: 'Delete a file' }[first.change]
  return WANTS[toolKind ?? 'other'] ?? KINDS.permission
}

const WANTS: Readonly<Record<string, string>> = {
  read: 'Read a file',
  edit: 'Edit a file',
  delete: 'Delete a file',
  move: 'Move a file',
  execute: 'Run a command',
  search: 'Search',
  fetch: 'Fetch from the network',
  mcp: 'Call a tool of an MCP server',
}

function iconOf({ kind, toolKind, input, questions = [] }: RequestOpened): IconName {
  if (questions.length > 0 || kind === 'plan') return 'thought'
  if (commandOf(input)) return 'terminal'
  return (toolKind && ICONS[toolKind]) ?? 'dot'
}
