import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bareRpc, type RpcMessage, readRpc, rpc } from '../../src/framing/json-rpc.ts'

const overTheWire = (message: unknown): unknown => JSON.parse(JSON.stringify(message))

describe('reading JSON-RPC', () => {
  test.each<[name: string, value: unknown, message: RpcMessage]>([
    ['a request', { id: 1, method: 'm', params: [] }, { kind: 'request', id: 1, method: 'm', params: [] }],
    [
      'a request with the id 0',
      { id: 0, method: 'm' },
      { kind: 'request', id: 0, method: 'm', params: undefined },
    ],
    [
      'a request with an empty id',
      { id: '', method: 'm' },
      { kind: 'request', id: '', method: 'm', params: undefined },
    ],
    [
      'a request with the id null, which is answered like any other',
      { id: null, method: 'm' },
      { kind: 'request', id: null, method: 'm', params: undefined },
    ],
    ['a notification', { method: 'm', params: {} }, { kind: 'notification', method: 'm', params: {} }],
    [
      'a notification named error',
      { method: 'error' },
      { kind: 'notification', method: 'error', params: undefined },
    ],
    ['a result', { id: 0, result: { a: 1 } }, { kind: 'result', id: 0, result: { a: 1 } }],
    ['a result of null', { id: 'c1', result: null }, { kind: 'result', id: 'c1', result: null }],
    ['a result of false', { id: 1, result: false }, { kind: 'result', id: 1, result: false }],
    [
      'a result beside an error of null',
      { id: 1, result: 2, error: null },
      { kind: 'result', id: 1, result: 2 },
    ],
    [
      'an error',
      { id: 1, error: { code: -32601, message: 'no', data: { a: 1 } } },
      { kind: 'error', id: 1, error: { code: -32601, message: 'no', data: { a: 1 } } },
    ],
    [
      'an error that answers no readable request',
      { id: null, error: { code: -32700, message: 'no' } },
      { kind: 'error', id: null, error: { code: -32700, message: 'no' } },
    ],
    [
      'an error beside a result of null',
      { id: 1, result: null, error: { code: 1, message: 'no' } },
      { kind: 'error', id: 1, error: { code: 1, message: 'no' } },
    ],
    [
      'an error that is a string',
      { id: 1, error: 'no' },
      { kind: 'error', id: 1, error: { message: 'no', data: 'no' } },
    ],
    [
      'an error without a message',
      { id: 1, error: { code: 5, status: 'x' } },
      {
        kind: 'error',
        id: 1,
        error: { code: 5, message: 'an error without a message', data: { code: 5, status: 'x' } },
      },
    ],
  ])('%s, with and without jsonrpc', (_name, value, message) => {
    expect(readRpc(value)).toEqual(message)
    expect(readRpc(Object.assign({ jsonrpc: '2.0' }, value))).toEqual(message)
  })

  test.each<[value: unknown, id: string | number | null, reason: string]>([
    [null, null, 'not an object'],
    ['ping', null, 'not an object'],
    [[{ id: 1, method: 'm' }], null, 'not an object'],
    [{}, null, 'neither call nor response'],
    [{ type: 'event' }, null, 'neither call nor response'],
    [{ id: 7 }, 7, 'neither call nor response'],
    [{ id: 7, error: null }, 7, 'neither call nor response'],
    [{ id: 7, method: 5 }, 7, 'method is not a string'],
    [{ id: 7, method: 'm', result: 1 }, 7, 'both a call and a response'],
    [{ id: 7, method: 'm', error: { code: 1, message: 'no' } }, 7, 'both a call and a response'],
    [{ id: 0, result: 1, error: { code: 1, message: 'no' } }, 0, 'both result and error'],
    [{ result: 1 }, null, 'a response without an id'],
    [{ error: { code: 1, message: 'no' } }, null, 'a response without an id'],
    [{ id: { a: 1 }, method: 'm' }, null, 'id is neither string, number nor null'],
    [{ id: false, method: 'm' }, null, 'id is neither string, number nor null'],
    [{ id: true, result: 1 }, null, 'id is neither string, number nor null'],
    [{ jsonrpc: '1.0', id: 7, method: 'm' }, 7, 'jsonrpc is not 2.0'],
    [JSON.parse('{"__proto__":{"id":1,"method":"m"}}'), null, 'neither call nor response'],
  ])('%j is invalid', (value, id, reason) => {
    expect(readRpc(value)).toEqual({ kind: 'invalid', id, reason })
  })

  test('any JSON is read', () => {
    const part = fc.option(fc.jsonValue(), { nil: undefined })
    const value = fc.record({
      jsonrpc: part,
      id: part,
      method: part,
      params: part,
      result: part,
      error: part,
    })
    const kinds = new Set(['request', 'notification', 'result', 'error', 'invalid'])
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), value), (message) => {
        expect(kinds).toContain(readRpc(message).kind)
      }),
    )
  })
})

describe('writing JSON-RPC', () => {
  test('messages carry the version unless they are bare', () => {
    expect(rpc.request(1, 'm', { a: 1 })).toEqual({ jsonrpc: '2.0', id: 1, method: 'm', params: { a: 1 } })
    expect(bareRpc.request(1, 'm', { a: 1 })).toEqual({ id: 1, method: 'm', params: { a: 1 } })
    expect(rpc.notification('m')).toStrictEqual({ jsonrpc: '2.0', method: 'm' })
    expect(bareRpc.notification('m')).toStrictEqual({ method: 'm' })
  })

  test('a result of nothing is null, so that it is still an answer', () => {
    expect(readRpc(overTheWire(rpc.result(0, undefined)))).toEqual({ kind: 'result', id: 0, result: null })
  })

  test.each([
    ['rpc', rpc],
    ['bareRpc', bareRpc],
  ])('what %s wrote is read again', (_name, writer) => {
    const id = fc.oneof(fc.string(), fc.integer(), fc.constant(null))
    const params = fc.option(fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue())), {
      nil: undefined,
    })
    const error = fc.record(
      { code: fc.integer(), message: fc.string(), data: fc.jsonValue() },
      { requiredKeys: ['code', 'message'] },
    )
    fc.assert(
      fc.property(id, fc.string(), params, fc.jsonValue(), error, (id, method, params, result, error) => {
        const read = (message: unknown) => overTheWire(readRpc(overTheWire(message)))
        expect(read(writer.request(id, method, params))).toEqual(
          overTheWire({ kind: 'request', id, method, params }),
        )
        expect(read(writer.notification(method, params))).toEqual(
          overTheWire({ kind: 'notification', method, params }),
        )
        expect(read(writer.result(id, result))).toEqual(overTheWire({ kind: 'result', id, result }))
        expect(read(writer.error(id, error))).toEqual(overTheWire({ kind: 'error', id, error }))
      }),
    )
  })
})
