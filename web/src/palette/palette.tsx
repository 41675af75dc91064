import { lazy, Suspense, useEffect, useEffectEvent, useState } from 'react'
import type { Route } from '../app/route.ts'
import { useModal } from '../ui/use-modal.ts'

const CommandList = lazy(() => import('./command-list.tsx'))

/** Everything by its name, with ⌘K or Ctrl K. */
export function Palette({ route }: { route: Route }) {
  const [open, setOpen] = useState(false)
  const dialog = useModal(open)
  const press = useEffectEvent((event: KeyboardEvent) => {
    if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return
    event.preventDefault()
    setOpen(!open)
  })
  useEffect(() => {
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
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
