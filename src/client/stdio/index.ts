export { selectTransport } from './select-transport.ts'
export { type StdioOptions, StdioTransport } from './stdio-transport.ts'
