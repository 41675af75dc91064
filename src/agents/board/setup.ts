import type { AgentSetup } from '../setup.ts'

/** The variables that hold the address of the server and its token. */
export const server = { url: 'MAINSTEM_BOARD_URL', token: 'MAINSTEM_BOARD_TOKEN' }

export const setup: AgentSetup = { server }
