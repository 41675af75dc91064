export { dropped } from '../protocols/acp/dropped.ts'
