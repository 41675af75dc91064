import type { Actor } from '../model/access.ts'
import { OWNER } from '../model/owner.ts'

/** Who sends the commands of a program: a library has one user, who owns the process. */
export const IN_PROCESS: { readonly actor: Actor } = { actor: { principal: OWNER, client: 'library' } }
