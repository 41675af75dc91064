import type { ButtonHTMLAttributes, ReactNode } from 'react'

const LOOKS = {
  plain: 'border border-line bg-panel hover:bg-raised',
  main: 'border border-transparent bg-accent text-accent-ink hover:opacity-90',
  danger: 'border border-line bg-panel text-bad hover:bg-bad-wash',
  quiet: 'border border-transparent text-soft hover:bg-raised hover:text-ink',
} as const

const SIZES = { normal: 'px-2.5 py-1 text-sm', small: 'px-1.5 py-0.5 text-xs' } as const

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: keyof typeof LOOKS
  size?: keyof typeof SIZES
  /** The key that does the same. */
  shortcut?: string | undefined
  children: ReactNode
}

export function Button({
  look = 'plain',
  size = 'normal',
  shortcut,
  children,
  className = '',
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      className={`inline-flex items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap ${SIZES[size]} ${LOOKS[look]} ${className}`}
      {...(shortcut !== undefined && { 'aria-keyshortcuts': shortcut })}
      {...rest}
    >
      {children}
      {shortcut !== undefined && (
        <span
          aria-hidden="true"
          className="hidden rounded border border-current/30 px-1 font-mono text-xs leading-4 sm:inline"
        >
          {shortcut.toUpperCase()}
        </span>
      )}
    </button>
  )
}
