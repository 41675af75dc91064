import { approvalFields, type RequestOpened } from 'mainstem/client'
import { LongText } from '../text/long-text.tsx'
import { keyed } from '../ui/keyed.ts'

/** The request as the agent sent it, field by field, and what an answer is bound to. */
export function RawRequest({ request }: { request: RequestOpened }) {
  return (
    <>
      <p className="text-xs text-soft">
        Your answer holds for exactly this input. Its digest is <code>{request.inputDigest}</code>; a request
        that changes has another one, and needs another answer.
      </p>
      {keyed(approvalFields(request), ({ name }) => name).map(([key, { name, text }]) => (
        <div key={key}>
          <span className="text-xs text-soft">{name}</span>
          <LongText text={text} />
        </div>
      ))}
    </>
  )
}
