import { MainstemError } from '../model/mainstem-error.ts'
import { fieldOf } from './rest.ts'

/** Checks that the required fields are there, to detect servers that are not Mainstem. */
export function shaped<Shape extends object>(value: unknown, ...names: (keyof Shape & string)[]): Shape {
  if (isShaped<Shape>(value, names)) return value
  throw new MainstemError('protocol_error', 'the response is not that of a Mainstem server; check the URL')
}

function isShaped<Shape>(value: unknown, names: readonly string[]): value is Shape {
  return names.every((name) => fieldOf(value, name) !== undefined)
}
