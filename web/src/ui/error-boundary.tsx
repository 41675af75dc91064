import { Component, type ReactNode } from 'react'
import { Notice } from './notice.tsx'

interface ErrorBoundaryProps {
  children: ReactNode
}

/** Keeps a fault of one screen from taking the others with it. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { message: string | undefined }> {
  override state = { message: undefined }

  static getDerivedStateFromError(thrown: unknown): { message: string } {
    return { message: thrown instanceof Error ? thrown.message : String(thrown) }
  }

  override render(): ReactNode {
    const { message } = this.state
    if (message === undefined) return this.props.children
    return (
      <div className="mx-auto max-w-lg space-y-3 p-6">
        <Notice level="error">This screen failed: {message}. The log of the session is not affected.</Notice>
        <a className="text-accent underline" href="#/">
          All sessions
        </a>
      </div>
    )
  }
}
