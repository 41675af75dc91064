import { isFailed, type SessionFacts, type SessionRecord } from 'mainstem/client'
import { useRef, useState } from 'react'
import { client, messageOf } from '../../app/client.ts'
import { useStore } from '../../app/store.ts'
import { useRelativePaths } from '../../text/workspace.ts'
import { useAction } from '../../ui/action.ts'
import { Button } from '../../ui/button.tsx'
import { useKeys } from '../../ui/keys.ts'
import { Attachments } from './attachments.tsx'
import { type Draft, drafts, imagesSentWith, promptOf, rememberSent } from './drafts.ts'
import { readImages } from './images.ts'
import { PromptField } from './prompt-field.tsx'
import { Queue } from './queue.tsx'
import { Resume } from './resume.tsx'
import { useSendKey } from './send-key.ts'
import { TurnSettings } from './turn-settings.tsx'

interface ComposerProps {
  record: SessionRecord
  facts: SessionFacts
  /** The last prompt of the conversation. */
  lastPrompt: string | undefined
}

/** The field for the next prompt, which starts a turn, queues one, or steers the running turn. */
export function Composer({ record, facts, lastPrompt }: ComposerProps) {
  const { id, status, cwd } = record
  const { busy, error, run } = useAction()
  const [problem, setProblem] = useState<string>()
  const field = useRef<HTMLTextAreaElement>(null)
  useKeys({ i: () => field.current?.focus() })
  useStore(drafts)
  const { path } = useRelativePaths()
  const draft = drafts.of(id)
  const prompt = promptOf(draft, path)
  const key = useSendKey()
  if (status === 'ended') return <Resume record={record} facts={facts} />
  const running = status === 'busy'
  const continues = record.queue.some(({ continuation }) => continuation)
  const steers = facts.capabilities !== undefined && facts.capabilities.steer !== 'none'
  const begin = async (text: string, added: Draft['images']) => {
    const images = added.map(({ mimeType, data }) => ({ mimeType, data }))
    await client.prompt(id, text, images.length > 0 ? images : undefined, key.of(text, added))
    rememberSent(id, text, added)
    key.sent()
  }
  const send = () => {
    if (prompt !== '') run(() => begin(prompt, draft.images).then(() => drafts.clear(id)))
  }
  const attach = (files: Iterable<File>) => {
    setProblem(facts.capabilities?.images === false ? `${record.agent} takes no images` : undefined)
    if (facts.capabilities?.images === false) return
    readImages(drafts.of(id).images, files)
      .then((images) => drafts.attach(id, images))
      .catch((thrown: unknown) => setProblem(messageOf(thrown)))
  }
  return (
    <form
      className="mx-auto w-full max-w-3xl max-sm:mb-2"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <Queue
        record={record}
        onEdit={(text) => {
          drafts.change(id, { text: [drafts.of(id).text, text].filter(Boolean).join('\n\n') })
          field.current?.focus()
        }}
      />
      <div className="rounded-xl border border-line bg-panel focus-within:border-accent">
        <Attachments draft={id} value={draft} />
        {/* One row on a phone, where the room belongs to requests. */}
        <div className="max-sm:flex max-sm:items-end">
          <PromptField
            id="prompt"
            ref={field}
            cwd={cwd}
            text={draft.text}
            placeholder={running ? 'Queue a prompt' : 'Write a prompt, @ for a file'}
            onChange={(text) => drafts.change(id, { text })}
            onSend={send}
            onFiles={attach}
          />
          <div className="flex flex-wrap items-center gap-1 px-1.5 pb-1.5 max-sm:shrink-0">
            <span className="contents max-sm:hidden">
              <TurnSettings record={record} facts={facts} />
            </span>
            <span className="ml-auto flex gap-1">
              {continues && !running && (
                <Button look="danger" onClick={() => run(() => client.interrupt(id))}>
                  Do not continue
                </Button>
              )}
              {running && (
                <Button look="danger" onClick={() => run(() => client.interrupt(id))}>
                  Stop
                </Button>
              )}
              {running && steers && (
                <Button
                  disabled={busy || prompt === '' || draft.images.length > 0}
                  onClick={() => run(() => client.steer(id, prompt).then(() => drafts.clear(id)))}
                >
                  Steer
                </Button>
              )}
              {lastPrompt !== undefined && prompt === '' && isFailed(record) && (
                <Button
                  disabled={busy}
                  onClick={() => run(() => begin(lastPrompt, imagesSentWith(id, lastPrompt)))}
                >
                  Retry
                </Button>
              )}
              <Button type="submit" look="main" disabled={busy || prompt === ''}>
                {running ? 'Queue' : 'Send'}
              </Button>
            </span>
          </div>
        </div>
      </div>
      {(error ?? problem) !== undefined && (
        <p role="alert" className="mt-1 text-sm text-bad">
          {error ?? problem}
        </p>
      )}
    </form>
  )
}
