import { type MouseEvent, type RefObject, useLayoutEffect, useRef } from 'react'
import { useStore } from '../app/store.ts'
import { type AnsweredBy, answerGate, type Readiness } from './answer-gate.ts'

export interface Gate {
  element: RefObject<HTMLElement | null>
  box: RefObject<HTMLElement | null>
  readiness: Readiness
  /** Whether the card has the keys. */
  selected: boolean
  mayAllow(by: AnsweredBy): boolean
  mayUseKey(): boolean
}

/** Watches a card, or with `members` buttons that answer these cards at once; none if they answer no card. */
export function useAnswerGate(id: string, members?: readonly string[]): Gate {
  const element = useRef<HTMLElement>(null)
  const box = useRef<HTMLElement>(null)
  const memberIds = members?.join('\n')
  useLayoutEffect(() => {
    if (!element.current) return
    return answerGate.watch(id, {
      element: element.current,
      ...(box.current && { box: box.current }),
      ...(memberIds !== undefined && { members: memberIds.split('\n').filter(Boolean) }),
    })
  }, [id, memberIds])
  const { selected, readiness } = useStore(answerGate)
  return {
    element,
    box,
    readiness: readiness.get(id) ?? 'settling',
    selected: selected === id,
    mayAllow: (by) => answerGate.mayAllow(id, by),
    mayUseKey: () => answerGate.mayUseKey(id),
  }
}

/** A browser reports a click by the keyboard with no clicks of a pointer. */
export const clickedBy = ({ detail }: MouseEvent): AnsweredBy => (detail === 0 ? 'button-key' : 'pointer')
