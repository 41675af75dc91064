import { Store, useStore } from '../app/store.ts'
import { Button } from './button.tsx'

interface Toast {
  id: number
  text: string
  /** What the button undoes. */
  undo: (() => void) | undefined
}

const toasts = new Store<readonly Toast[]>([])

let count = 0

/** How long a message stays. */
const SHOWN_MS = 6_000

/** Says what happened. With `undo`, it can be taken back while the message stands. */
export function say(text: string, undo?: () => void): void {
  const id = ++count
  toasts.set([...toasts.get(), { id, text, undo }])
  setTimeout(() => dismiss(id), SHOWN_MS)
}

/** Does something after the time in which it can be taken back. */
export function doLater(text: string, work: () => void, undo: () => void): void {
  const timer = setTimeout(work, SHOWN_MS)
  say(text, () => {
    clearTimeout(timer)
    undo()
  })
}

function dismiss(id: number): void {
  toasts.set(toasts.get().filter((toast) => toast.id !== id))
}

export function Toasts() {
  const shown = useStore(toasts)
  return (
    <div role="status" className="fixed bottom-4 left-4 z-20 space-y-2 max-md:right-4">
      {shown.map(({ id, text, undo }) => (
        <p
          key={id}
          className="flex items-center gap-3 rounded-lg border border-line bg-panel px-3 py-2 text-sm shadow-pop"
        >
          <span className="min-w-0 flex-1">{text}</span>
          {undo && (
            <Button
              size="small"
              onClick={() => {
                undo()
                dismiss(id)
              }}
            >
              Undo
            </Button>
          )}
        </p>
      ))}
    </div>
  )
}
