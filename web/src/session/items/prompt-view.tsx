import type { PromptItem } from '../fold/items.ts'

export function PromptView({ item: { text, steered, turn } }: { item: PromptItem }) {
  return (
    <div className="ml-auto max-w-[85%] rounded-lg border border-line bg-raised px-3 py-2 sm:ml-12 sm:max-w-none">
      <p className="mb-0.5 text-xs text-soft">
        {steered === undefined
          ? `You · turn ${turn ?? ''}`
          : `You, during the turn${steered === 'restarted' ? ' (restarted it)' : ''}`}
      </p>
      <p className="break-words whitespace-pre-wrap">{text}</p>
    </div>
  )
}
