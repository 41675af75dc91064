import * as z from 'zod'
import type * as types from './access.types.ts'

/** What a principal may do besides using its own sessions. `operator`: runs the server for others. */
export const Role = z.enum(['operator'])
export type Role = types.Role
