export { type StdioOptions, StdioTransport } from './stdio-transport.ts'
