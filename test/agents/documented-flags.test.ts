import { expect, test } from 'vitest'
import { type Native, nativeOf } from '../../scripts/policy-native.ts'
import { agents } from '../../src/agents/index.ts'
import { DEFAULT_POLICY } from '../../src/model/index.ts'
import { DOCUMENTED, type DocumentedFlag } from './documented-flags.ts'

type Wish = Pick<DocumentedFlag, 'agent' | 'launch' | 'policy' | 'options' | 'resume'>

function nativeOfWish({ agent: id, launch, policy, options = {}, resume }: Wish): Native {
  const agent = agents.find((one) => one.id === id)
  if (!agent) throw new Error(`there is no agent ${id}`)
  return nativeOf(agent, launch, { ...DEFAULT_POLICY, ...policy }, options, resume)
}

function wordsOf(wish: Wish): readonly string[] {
  const native = nativeOfWish(wish)
  if ('refused' in native) throw new Error(`refused: ${native.refused}`)
  return native.parts
}

test.each(DOCUMENTED)('$row with $agent $launch', (flag) => {
  const { agent, launch, adds, always, refused } = flag
  if (refused !== undefined) {
    expect(nativeOfWish(flag)).toEqual({ refused })
    return
  }
  const plain = wordsOf({ agent, launch })
  const words = wordsOf(flag)
  expect(words).toEqual(expect.arrayContaining([...(always ?? [])]))
  expect(words.filter((word) => !plain.includes(word)).sort()).toEqual([...(adds ?? [])].sort())
})

test('every row has one meaning', () => {
  const emitted = ({ adds, always, refused, outside }: DocumentedFlag) =>
    [adds, always, refused, outside].filter((one) => one !== undefined).length
  expect(DOCUMENTED.filter((flag) => emitted(flag) !== 1)).toEqual([])
})
