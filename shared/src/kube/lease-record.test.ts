import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goldenCases } from '../testing/index.ts';
import type { RawObject } from './cluster.ts';
import { toLeaseObject, toLeaseRecord, toMicroTime, withSixDecimals } from './lease-record.ts';

const key = { namespace: 'a', name: 'leader' };

test('recorded Leases are read, and written back as they were', () => {
  let read = 0;
  for (const { steps } of goldenCases('leases')) {
    for (const { request, response } of steps) {
      const body = response.body as RawObject | undefined;
      if (response.status > 201 || body?.['kind'] !== 'Lease') continue;
      const record = toLeaseRecord(body, request.method);
      const { spec } = JSON.parse(JSON.stringify(toLeaseObject(key, record, record.resourceVersion))) as {
        spec: object;
      };
      const nothing = { holderIdentity: '', leaseDurationSeconds: 0, leaseTransitions: 0 };
      assert.deepEqual(spec, { ...nothing, ...(body['spec'] as object) });
      read++;
    }
  }
  assert.ok(read > 10, `${read} Leases`);
});

test('a released Lease has an empty holder, however that is written', () => {
  const metadata = { resourceVersion: '7' };
  assert.equal(toLeaseRecord({ metadata, spec: { holderIdentity: '' } }, 'get').holder, '');
  assert.equal(toLeaseRecord({ metadata, spec: {} }, 'get').holder, '');
  assert.equal(toLeaseRecord({ metadata, spec: {} }, 'get').renewTime, undefined);
});

test('a Lease without a version is no Lease: it could not be replaced safely', () => {
  assert.throws(() => toLeaseRecord({ spec: {} }, 'get'), { code: 'badAnswer' });
});

test('an instant is written with exactly six decimals', () => {
  assert.equal(toMicroTime(Date.UTC(2026, 10, 21, 7, 53, 1, 7)), '2026-11-21T07:53:01.007000Z');
});

/** [given, written] */
const rows: [string | undefined, string | undefined][] = [
  ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000000Z'],
  ['2026-01-01T00:00:00.5Z', '2026-01-01T00:00:00.500000Z'],
  ['2026-01-01T00:00:00.123Z', '2026-01-01T00:00:00.123000Z'],
  ['2026-01-01T00:00:00.123456789Z', '2026-01-01T00:00:00.123456Z'],
  ['2026-01-01T02:00:00+02:00', '2026-01-01T02:00:00.000000+02:00'],
  ['no time', 'no time'],
  [undefined, undefined],
];

for (const [given, written] of rows) {
  test(`a time with other decimals: ${given ?? 'none'}`, () => {
    assert.equal(withSixDecimals(given), written);
  });
}
