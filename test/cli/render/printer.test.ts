import { Writable } from 'node:stream'
import { setImmediate as nextTick } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Printer } from '../../../src/cli/render/printer.ts'

test('a text is printed when its reader has taken it', async () => {
  const taken: string[] = []
  const printer = new Printer(
    new Writable({
      write(chunk, _, done) {
        taken.push(String(chunk))
        done()
      },
    }),
  )
  await printer.print('one\n')
  await printer.print('')
  await printer.print('two\n')
  expect(taken).toEqual(['one\n', 'two\n'])
  expect(printer.closed.aborted).toBe(false)
})

function failing(code: string): Printer {
  return new Printer(new Writable({ write: (_, __, done) => done(Object.assign(new Error(code), { code })) }))
}

test('a reader that closes the pipe is no error, and aborts the signal', async () => {
  const printer = failing('EPIPE')
  const closed = new Promise((resolve) => printer.closed.addEventListener('abort', resolve))
  await printer.print('one\n')
  await closed
  await printer.print('two\n')
  expect(printer.closed.aborted).toBe(true)
})

test('any other failure is an error', async () => {
  await expect(failing('ENOSPC').print('one\n')).rejects.toMatchObject({ code: 'ENOSPC' })
})

test('printing waits for a slow reader', async () => {
  const taken = Promise.withResolvers<void>()
  const printer = new Printer(new Writable({ write: (_, __, done) => void taken.promise.then(() => done()) }))
  let printed = false
  const printing = printer.print('one\n').then(() => {
    printed = true
  })
  await nextTick()
  expect(printed).toBe(false)
  taken.resolve()
  await printing
  expect(printed).toBe(true)
})
