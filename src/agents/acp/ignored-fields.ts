export { dropped } from '../protocols/acp/ignored-fields.ts'
