import { useState } from 'react'
import { keyed } from './keyed.ts'
import { useKeys } from './keys.ts'
import { useModal } from './use-modal.ts'

const KEYS: Readonly<Record<string, readonly (readonly [keys: string, action: string])[]>> = {
  'Getting around': [
    ['J  K', 'select the next or previous session'],
    ['Enter', 'open the selected session'],
    ['G', 'next session that needs you'],
    ['N', 'new session'],
    ['/', 'search everything'],
    ['⌘K  Ctrl K', 'every command and session by name'],
    ['P', 'pin the session'],
    ['E', 'archive the session'],
    ['?', 'this help'],
  ],
  'Requests (of the card with the ring)': [
    ['A', 'allow once'],
    ['S', 'allow for the session'],
    ['D', 'deny, with a reason'],
    ['R', 'next request'],
    ['1 … 9', 'choose an answer'],
  ],
  Prompt: [
    ['I', 'write a prompt'],
    ['Enter  ⌘Enter', 'send, or queue during a turn'],
    ['Shift Enter', 'new line'],
    ['@', 'name a file'],
    ['Esc', 'leave the field'],
  ],
}

/** All keys, with `?`. */
export function Help() {
  const [open, setOpen] = useState(false)
  const dialog = useModal(open)
  useKeys({ '?': () => setOpen(true) })
  return (
    <dialog
      ref={dialog}
      aria-label="Keys"
      className="m-auto w-[min(40rem,92vw)] rounded-xl border border-line bg-panel p-5 text-ink shadow-pop backdrop:bg-black/40"
      onClose={() => setOpen(false)}
    >
      {open && (
        <div className="grid gap-5 sm:grid-cols-2">
          {Object.entries(KEYS).map(([heading, keys]) => (
            <section key={heading}>
              <h2 className="mb-1.5 text-sm font-semibold">{heading}</h2>
              <dl className="space-y-1 text-sm">
                {keyed(keys, ([name]) => name).map(([key, [names, action]]) => (
                  <div key={key} className="flex justify-between gap-3">
                    <dt className="text-soft">{action}</dt>
                    <dd className="shrink-0 font-mono text-xs leading-5">{names}</dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
          <p className="text-sm text-soft">
            A key allows a request only after all of it was on screen. Esc closes this.
          </p>
        </div>
      )}
    </dialog>
  )
}
