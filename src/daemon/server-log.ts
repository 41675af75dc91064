import type { RequestScope } from '../gateway/http/request-scope.ts'
import type { AccessLine } from '../gateway/http/server-stats.ts'
import { MainstemError } from '../model/index.ts'

/** A line of the server's log that is no request. */
interface LogLine extends Partial<RequestScope> {
  time: string
  level: 'info' | 'warn' | 'error'
  message: string
  code?: string
  advice?: string | undefined
  /** Where the error was thrown. */
  stack?: string
}

/** The log of a server: objects for lines of JSON, so that programs can read it and no text can forge a line. */
export class ServerLog {
  readonly #write: (line: object) => void

  constructor(write: (line: object) => void) {
    this.#write = write
  }

  readonly access = (line: AccessLine): void => this.#write(line)

  /** An error, with the request that it belongs to. */
  readonly report = (thrown: unknown, request?: RequestScope): void => {
    const isError = thrown instanceof Error
    this.#line({
      level: 'error',
      message: isError ? thrown.message : String(thrown),
      ...(thrown instanceof MainstemError && { code: thrown.code, advice: thrown.advice }),
      ...request,
      ...(isError && thrown.stack !== undefined && { stack: thrown.stack }),
    })
  }

  info(message: string): void {
    this.#line({ level: 'info', message })
  }

  warn(message: string): void {
    this.#line({ level: 'warn', message })
  }

  #line(line: Omit<LogLine, 'time'>): void {
    const whole: LogLine = { time: new Date().toISOString(), ...line }
    this.#write(whole)
  }
}
