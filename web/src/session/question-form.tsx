import { escapeInvisible, type RequestOpened } from 'mainstem/client'
import { useId, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { useKeys } from '../ui/keys.ts'
import { ReadBox, UnreadHint } from './read-box.tsx'
import type { RequestFormProps } from './request-card.tsx'
import { clickedBy } from './use-answer-gate.ts'

type Questions = NonNullable<RequestOpened['questions']>
type Question = Questions[number]
type Given = Readonly<Record<string, { chosen: readonly string[]; other: string }>>

const NONE = { chosen: [], other: '' }

function answersOf(questions: Questions, given: Given): Record<string, string[]> {
  const pairs = questions.map(({ id }): [string, string[]] => {
    const { chosen, other } = given[id] ?? NONE
    return [id, [...chosen, ...(other.trim() === '' ? [] : [other.trim()])]]
  })
  return Object.fromEntries(pairs)
}

/** The questions of an agent. With a single question, the number keys choose an answer. */
export function QuestionForm({ request: { questions = [] }, busy, gate, onAnswer }: RequestFormProps) {
  const id = useId()
  const [given, setGiven] = useState<Given>({})
  const answers = answersOf(questions, given)
  const complete = questions.every(({ id }) => (answers[id]?.length ?? 0) > 0)
  const choose = ({ id, multiple }: Question, label: string) => {
    const { chosen, other } = given[id] ?? NONE
    const without = chosen.filter((one) => one !== label)
    const next = !multiple ? [label] : without.length < chosen.length ? without : [...chosen, label]
    setGiven({ ...given, [id]: { chosen: next, other: multiple ? other : '' } })
  }
  const [only] = questions
  const single = questions.length === 1 && only
  useKeys(
    single
      ? Object.fromEntries(
          only.options
            .slice(0, 9)
            .map(({ label }, index) => [`${index + 1}`, () => gate.mayUseKey() && choose(only, label)]),
        )
      : {},
  )
  return (
    <form
      className="min-w-0"
      onSubmit={(event) => {
        event.preventDefault()
        if (complete && !busy) onAnswer({ decision: 'answered', answers })
      }}
    >
      <ReadBox gate={gate}>
        {questions.map((question) => (
          <QuestionField
            key={question.id}
            name={`${id} ${question.id}`}
            question={question}
            numbered={single !== false && gate.selected}
            given={given[question.id] ?? NONE}
            onChoose={(label) => choose(question, label)}
            onOther={(other) =>
              setGiven({
                ...given,
                [question.id]: {
                  chosen: question.multiple ? (given[question.id] ?? NONE).chosen : [],
                  other,
                },
              })
            }
          />
        ))}
      </ReadBox>
      <div className="flex flex-wrap gap-2 border-t border-line px-3 pt-2 pb-3">
        {/* Enter in a field clicks this button too. */}
        <Button
          type="submit"
          look="main"
          disabled={busy || !complete}
          aria-disabled={busy || !complete || gate.readiness !== 'ready'}
          onClick={(event) => {
            if (!gate.mayAllow(clickedBy(event))) event.preventDefault()
          }}
        >
          Answer
        </Button>
        <Button look="danger" disabled={busy} onClick={() => onAnswer({ decision: 'deny' })}>
          Decline to answer
        </Button>
        {questions.length > 1 && (
          <span className="self-center text-xs text-soft tabular-nums">
            {questions.filter(({ id }) => (answers[id]?.length ?? 0) > 0).length} of {questions.length}{' '}
            answered
          </span>
        )}
        <UnreadHint gate={gate} act="answer" />
      </div>
    </form>
  )
}

interface QuestionFieldProps {
  /** The name of the group of inputs: two cards may have questions with the same id. */
  name: string
  question: Question
  numbered: boolean
  given: Given[string]
  onChoose(label: string): void
  onOther(text: string): void
}

function QuestionField({ name, question, numbered, given, onChoose, onOther }: QuestionFieldProps) {
  const { header, text, options, multiple, other, secret } = question
  return (
    <fieldset>
      <legend className="mb-1">
        {header !== undefined && <span className="mr-2 text-xs text-soft">{escapeInvisible(header)}</span>}
        <span className="font-medium whitespace-pre-wrap">{escapeInvisible(text)}</span>
      </legend>
      <div className="space-y-1">
        {options.map(({ label, description }, index) => (
          <label
            key={label}
            className="flex items-start gap-2 rounded-md border border-line px-2 py-1 hover:bg-raised"
          >
            <input
              type={multiple ? 'checkbox' : 'radio'}
              name={name}
              className="mt-1"
              checked={given.chosen.includes(label)}
              onChange={() => onChoose(label)}
            />
            <span className="min-w-0">
              {numbered && index < 9 && <kbd className="mr-1.5 text-xs text-soft">{index + 1}</kbd>}
              <span>{escapeInvisible(label)}</span>
              {description !== undefined && (
                <span className="block text-xs text-soft">{escapeInvisible(description)}</span>
              )}
            </span>
          </label>
        ))}
      </div>
      {(other || options.length === 0) && (
        <input
          type={secret ? 'password' : 'text'}
          autoComplete="off"
          className="mt-1 w-full"
          placeholder="Another answer"
          aria-label={`Another answer to: ${text}`}
          value={given.other}
          onChange={(event) => onOther(event.target.value)}
        />
      )}
    </fieldset>
  )
}
