import { expect, test } from 'vitest'
import { idleMemory } from '../../../src/cli/daemon/idle-memory.ts'

const MB = 1024 * 1024

function fake() {
  const state = { cpu: 0, heap: 40 * MB, collected: 0 }
  const check = idleMemory({
    cpuMs: () => state.cpu,
    heapBytes: () => state.heap,
    collect: () => {
      state.collected++
      state.heap = 20 * MB
      // A collection itself is no work of the process.
      state.cpu += 100
    },
  })
  return { state, check }
}

test('an idle process gives back the memory of its start once', () => {
  const { state, check } = fake()
  check()
  check()
  check()
  expect(state).toMatchObject({ collected: 1, heap: 20 * MB })
})

test('a busy process is not paused', () => {
  const { state, check } = fake()
  state.cpu += 1_000
  check()
  expect(state.collected).toBe(0)
})

test('what a busy time needed is given back after it', () => {
  const { state, check } = fake()
  check()
  Object.assign(state, { cpu: 5_000, heap: 90 * MB })
  check()
  expect(state.collected).toBe(1)
  check()
  expect(state).toMatchObject({ collected: 2, heap: 20 * MB })
})
