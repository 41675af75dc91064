import type { RequestOpened } from '../events/request.types.ts'

/** Whether a client has to answer the request. A policy or a hook decides the others. */
export function isForPerson({ answeredBy = 'person' }: Pick<RequestOpened, 'answeredBy'>): boolean {
  return answeredBy === 'person'
}
