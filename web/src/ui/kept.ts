import { useState } from 'react'

const kept = new Map<string, boolean>()

/** Choices of folded parts that are kept, so that they survive the list that removes rows out of sight. */
const MOST = 2_000

/** Whether a part is unfolded: as someone chose, otherwise as suggested. */
export function useUnfolded(key: string, suggested: boolean): [boolean, (open: boolean) => void] {
  const [chosen, setChosen] = useState(() => kept.get(key))
  const choose = (open: boolean) => {
    if (kept.size >= MOST) kept.clear()
    kept.set(key, open)
    setChosen(open)
  }
  return [chosen ?? suggested, choose]
}
