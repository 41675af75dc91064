import { useState } from 'react'
import { copyText } from './copy-text.ts'
import { Icon } from './icon.tsx'

/** How long a button says that it copied. */
const SAID_MS = 1_500

interface CopyButtonProps {
  /** The text, or how to make it when the button is pressed. */
  text: string | (() => string)
  label?: string
  className?: string
}

/** Copies a text. */
export function CopyButton({ text, label = 'Copy', className = '' }: CopyButtonProps) {
  const [said, setSaid] = useState<string>()
  const copy = async () => {
    try {
      await copyText(typeof text === 'string' ? text : text())
      setSaid('Copied')
    } catch {
      // Browsers refuse without the focus.
      setSaid('The browser refused')
    }
    setTimeout(() => setSaid(undefined), SAID_MS)
  }
  return (
    <button
      type="button"
      className={`inline-flex items-center gap-1 rounded px-1.5 py-0.5 text-xs text-soft hover:bg-raised hover:text-ink ${className}`}
      onClick={() => void copy()}
    >
      <Icon name="copy" className="size-3.5" />
      <span aria-live="polite">{said ?? label}</span>
    </button>
  )
}
