import { memoryStore } from '../../src/stores/memory.ts'
import { storeContract } from './contract.ts'

storeContract({ name: 'memory', open: async (monotonic) => memoryStore(monotonic) })
