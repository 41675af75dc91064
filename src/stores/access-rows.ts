import { type Grant, Role } from '../model/access.ts'
import type { StoredToken } from './access.ts'
import { integer, type Row, text } from './row.ts'
import { damagedPart, type Sums } from './tables.ts'

/** The tokens in the order of their names, without removed and damaged ones. */
export function tokensIn(sums: Sums, rows: readonly Row[]): StoredToken[] {
  return rows
    .filter((row) => row.removed === null && damagedPart(sums.token, row) === undefined)
    .map(tokenIn)
    .sort((a, b) => byName(a.name, b.name))
}

/** The grants in the order of their names, without damaged ones. */
export function grantsIn(sums: Sums, rows: readonly Row[]): Grant[] {
  return rows
    .filter((row) => damagedPart(sums.permit, row) === undefined)
    .map((row) => ({
      to: text(row, 'grantee'),
      of: text(row, 'principal'),
      at: integer(row, 'at'),
      by: text(row, 'added_by'),
    }))
    .sort((a, b) => byName(a.to, b.to) || byName(a.of, b.of))
}

/** Roles as a column; one that this version does not know allows nothing. */
export const rolesColumn = (roles: readonly Role[]) => roles.join(' ')

function tokenIn(row: Row): StoredToken {
  const roles = text(row, 'roles').split(' ')
  return {
    name: text(row, 'name'),
    digest: text(row, 'digest'),
    roles: Role.options.filter((role) => roles.includes(role)),
    at: integer(row, 'at'),
    by: text(row, 'added_by'),
  }
}

const byName = (a: string, b: string) => (a < b ? -1 : Number(a > b))
