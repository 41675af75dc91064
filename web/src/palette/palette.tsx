import { lazy, Suspense, useEffect, useEffectEvent, useRef, useState } from 'react'
import type { Route } from '../app/route.ts'

const CommandList = lazy(() => import('./command-list.tsx'))

/** Everything by its name, with ⌘K or Ctrl K. */
export function Palette({ route }: { route: Route }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [open, setOpen] = useState(false)
  const press = useEffectEvent((event: KeyboardEvent) => {
    if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return
    event.preventDefault()
    setOpen(!open)
  })
  useEffect(() => {
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
  useEffect(() => {
    if (open) dialog.current?.showModal()
    else dialog.current?.close()
  }, [open])
  return (
    <dialog
      ref={dialog}
      aria-label="Commands"
      className="mx-auto mt-[12vh] w-[min(36rem,92vw)] rounded-xl border border-line bg-panel p-0 text-ink shadow-pop backdrop:bg-black/40"
      onClose={() => setOpen(false)}
    >
      <Suspense>{open && <CommandList route={route} onDone={() => setOpen(false)} />}</Suspense>
    </dialog>
  )
}
