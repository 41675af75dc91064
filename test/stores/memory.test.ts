import { memoryStore } from '../../src/stores/memory.ts'
import { storeContract } from './contract.ts'
import { nodeContract } from './contract-nodes.ts'
import { sharedMemoryStore } from './shared-memory.ts'

storeContract({ name: 'memory', open: async (monotonic) => memoryStore(monotonic) })
storeContract({ name: 'shared memory', open: async (monotonic) => sharedMemoryStore(monotonic) })
nodeContract('shared memory', async () => {
  const clock = { now: 0 }
  const store = sharedMemoryStore(() => clock.now)
  return {
    store,
    pass: async (ms) => {
      clock.now += ms
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
})
