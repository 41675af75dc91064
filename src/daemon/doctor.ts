export { inspectStore, type StoreDamage, type StoreReport } from '../stores/sqlite/inspect.ts'
