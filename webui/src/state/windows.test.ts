import assert from 'node:assert/strict';
import { beforeEach, describe, mock, test } from 'node:test';
import { Windows, type WindowAnswer } from './windows.svelte.ts';

interface Row {
  readonly id: string;
  readonly note: string;
}

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout', 'Date'] });
});

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
};

/** A list on the server, and the windows that were asked for. */
function aList(rows: readonly Row[]) {
  const server = { rows };
  const asked: number[] = [];
  const windows = new Windows<Row, WindowAnswer<Row>>({
    size: 10,
    keyOf: ({ id }) => id,
    load: async ({ limit, offset }) => {
      asked.push(offset);
      const items = server.rows.slice(offset, offset + limit);
      const pagination = { total: server.rows.length, limit, offset, hasMore: offset + limit < server.rows.length };
      return { value: { items, pagination }, changed: true, servedAt: undefined };
    },
  });
  return { windows, asked, server };
}

const rows = (count: number, note = ''): Row[] =>
  Array.from({ length: count }, (_, index) => ({ id: `row-${index}`, note }));

describe('a long list', () => {
  test('is read in the windows that are in sight', async () => {
    const { windows, asked } = aList(rows(95));
    windows.show(0, 0);
    await settle();
    assert.deepEqual([asked, windows.total, windows.rowAt(3)?.id, windows.rowAt(15)], [[0], 95, 'row-3', undefined]);
    windows.show(8, 24);
    await settle();
    assert.deepEqual(asked, [0, 10, 20]);
    assert.equal(windows.rowAt(15)?.id, 'row-15');
    windows.stop();
  });

  test('keeps what scrolled out of sight, and reads it again when it comes back', async () => {
    const { windows, asked } = aList(rows(95));
    windows.show(0, 9);
    await settle();
    windows.show(50, 59);
    await settle();
    assert.equal(windows.rowAt(0)?.id, 'row-0');
    windows.show(0, 9);
    await settle();
    assert.deepEqual(asked, [0, 50, 0]);
    windows.stop();
  });

  test('keeps its order while it is held, and shows the newest facts of each row', async () => {
    const { windows, server } = aList(rows(3, 'old'));
    windows.show(0, 2);
    await settle();
    windows.hold();
    server.rows = [...rows(3, 'new')].reverse();
    await windows.refresh();
    assert.deepEqual(
      [0, 1, 2].map((index) => windows.rowAt(index)),
      rows(3, 'new'),
    );
    assert.equal(windows.orderWaits, true);
    windows.apply();
    assert.equal(windows.rowAt(0)?.id, 'row-2');
    assert.equal(windows.orderWaits, false);
    windows.stop();
  });

  test('takes a new order at once while the pointer is outside', async () => {
    const { windows, server } = aList(rows(3));
    windows.show(0, 2);
    await settle();
    server.rows = [...rows(3)].reverse();
    await windows.refresh();
    assert.deepEqual([windows.rowAt(0)?.id, windows.orderWaits], ['row-2', false]);
    windows.hold();
    windows.release();
    assert.equal(windows.orderWaits, false);
    windows.stop();
  });

  test('fails window by window', async () => {
    let fails = false;
    const windows = new Windows<Row, WindowAnswer<Row>>({
      size: 10,
      keyOf: ({ id }) => id,
      load: async ({ limit, offset }) => {
        if (fails) throw new Error('no');
        return {
          value: { items: rows(10), pagination: { total: 30, limit, offset, hasMore: true } },
          changed: true,
          servedAt: undefined,
        };
      },
    });
    windows.show(0, 9);
    await settle();
    fails = true;
    windows.show(0, 15);
    await settle();
    assert.deepEqual(
      windows.failures.map(({ first }) => first),
      [10],
    );
    assert.equal(windows.rowAt(0)?.id, 'row-0');
    windows.stop();
  });
});
