import { MainstemError } from '../model/index.ts'

/** The refusal of a node name that another live process has. */
export function nameTaken(name: string, leftMs: number): MainstemError {
  const message = `A node named "${name}" is running already. Set another name with node.name in the configuration.`
  return new MainstemError('conflict', message, { retryAfter: Math.max(1, Math.ceil(leftMs / 1000)) })
}
