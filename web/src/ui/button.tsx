import type { ButtonHTMLAttributes, ReactNode } from 'react'

const LOOKS = {
  plain: 'border border-line bg-panel hover:bg-raised',
  main: 'border border-transparent bg-accent text-accent-ink hover:opacity-90',
  danger: 'border border-line bg-panel text-bad hover:bg-bad-wash',
  quiet: 'border border-transparent text-soft hover:bg-raised hover:text-ink',
} as const

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: keyof typeof LOOKS
  /** The key that does the same. */
  shortcut?: string | undefined
  children: ReactNode
}

export function Button({ look = 'plain', shortcut, children, className = '', ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className={`inline-flex items-center justify-center gap-1.5 rounded-md px-2.5 py-1 font-medium whitespace-nowrap ${LOOKS[look]} ${className}`}
      {...(shortcut !== undefined && { 'aria-keyshortcuts': shortcut })}
      {...rest}
    >
      {children}
      {shortcut !== undefined && (
        <span
          aria-hidden="true"
          className="hidden rounded border border-current/30 px-1 font-mono text-[10px] leading-4 sm:inline"
        >
          {shortcut.toUpperCase()}
        </span>
      )}
    </button>
  )
}
