import assert from 'node:assert/strict';
import { StoreError, type Tx } from '@cronjob-monitor/shared/store';
import { readNumber, readRows } from '../rows.ts';
import { contract, shortLimits } from '../suite.ts';

const put = async (tx: Tx, scope: string, tat: number): Promise<void> => {
  await tx.sql('rate_limits').insert({ scope, tat });
};

export const transactions = contract('transactions', (test) => {
  test('keep all or nothing', async ({ store }) => {
    await assert.rejects(
      store.transaction(async (tx) => {
        await put(tx, 'half', 1);
        throw new Error('stop');
      }),
      { message: 'stop' },
    );
    assert.equal(await readNumber(store, 'select count(*) as n from rate_limits'), 0);
    assert.equal(await store.transaction(async (tx) => put(tx, 'whole', 1).then(() => 'done')), 'done');
    assert.equal(await readNumber(store, 'select count(*) as n from rate_limits'), 1);
  });

  test('read what is committed, and nothing else', { only: ['postgres', 'mysql'] }, async ({ store, open }) => {
    const other = open();
    await store.transaction(async (tx) => {
      assert.equal(await readNumber({ ...store, sql: tx.sql }, `select count(*) as n from rate_limits`), 1);
      await other.transaction((their) => put(their, 'between', 2));
      // READ COMMITTED: a repeatable read would still count 1.
      assert.equal(await readNumber({ ...store, sql: tx.sql }, `select count(*) as n from rate_limits`), 2);
    });
  });

  test('are repeated as a whole after a deadlock', { only: ['postgres', 'mysql'] }, async ({ store, open }) => {
    await store.transaction((tx) => put(tx, 'a', 0));
    await store.transaction((tx) => put(tx, 'b', 0));
    const other = open();
    let attempts = 0;
    let holding = 0;
    let meet = (): void => {};
    const bothHoldOne = new Promise<void>((resolve) => {
      meet = resolve;
    });
    const crossing = async (first: string, second: string, at: typeof store): Promise<void> =>
      at.transaction(async (tx) => {
        attempts++;
        await tx.sql('rate_limits').where({ scope: first }).increment('tat', 1);
        if (++holding === 2) meet();
        await bothHoldOne;
        await tx.sql('rate_limits').where({ scope: second }).increment('tat', 1);
      });
    await Promise.all([crossing('a', 'b', store), crossing('b', 'a', other)]);
    assert.ok(attempts > 2, `${attempts} attempts`);
    assert.deepEqual(await readRows(store, `select tat from rate_limits where scope in ('a', 'b')`), [
      { tat: 2 },
      { tat: 2 },
    ]);
  });

  test('give up after five repetitions, and say that locks stood in the way', async ({ store }) => {
    let attempts = 0;
    const busy = store.transaction(async () => {
      attempts++;
      throw new StoreError('busy', 'locks of other transactions stood in the way', { retryable: true });
    });
    await assert.rejects(busy, { code: 'busy' });
    assert.equal(attempts, 6);
  });

  test('repeat nothing else', async ({ store }) => {
    let attempts = 0;
    const conflicting = store.transaction(async (tx) => {
      attempts++;
      await put(tx, 'whole', 9);
    });
    await assert.rejects(conflicting, { code: 'conflict' });
    assert.equal(attempts, 1);
  });

  test(
    'wait for a lock no longer than its limit, and then begin anew',
    { only: ['postgres', 'mysql'] },
    async ({ open }) => {
      const [store, other] = [open(shortLimits), open()];
      let release = (): void => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      let holding = (): void => {};
      const locked = new Promise<void>((resolve) => {
        holding = resolve;
      });
      const holder = other.transaction(async (tx) => {
        await tx.sql('rate_limits').where({ scope: 'a' }).increment('tat', 1);
        holding();
        await held;
      });
      let attempts = 0;
      await locked;
      const started = performance.now();
      await store.transaction(async (tx) => {
        if (++attempts === 2) release();
        await tx.sql('rate_limits').where({ scope: 'a' }).increment('tat', 1);
      });
      await holder;
      assert.equal(attempts, 2);
      assert.ok(performance.now() - started > 900);
      assert.equal(await readNumber(store, `select tat as n from rate_limits where scope = 'a'`), 4);
    },
  );

  test('end a statement that takes longer than its limit', { only: ['postgres', 'mysql'] }, async ({ open }) => {
    const store = open(shortLimits);
    const slow = store.dialect.name === 'postgres' ? 'select pg_sleep(8)' : 'select sleep(8) from rate_limits limit 1';
    const started = performance.now();
    // MariaDB ends the statement with an error, MySQL interrupts the sleep inside it.
    await store.sql.raw(slow).then(
      () => {},
      (error: unknown) => {
        assert.equal((error as StoreError).code, 'timeout');
      },
    );
    assert.ok(performance.now() - started < 3_000);
  });

  test('leave no connection behind', async ({ store }) => {
    assert.equal((store.sql.client as { pool: { numUsed(): number } }).pool.numUsed(), 0);
  });
});

export const errors = contract('errors', (test) => {
  test('name the key and never a value', async ({ store }) => {
    await store.sql('rate_limits').insert({ scope: 'hunter2', tat: 424_242 });
    const again = store.sql('rate_limits').insert({ scope: 'hunter2', tat: 424_242 });
    await assert.rejects(again, (error: unknown) => {
      assert.ok(error instanceof StoreError);
      assert.equal(error.code, 'conflict');
      assert.match(`${error.constraint}`, /rate_limits|PRIMARY/);
      const told = `${error.stack} ${JSON.stringify(error)} ${Object.values(error).join()} ${error.message}`;
      assert.doesNotMatch(told, /hunter2|424242|insert into/i);
      return true;
    });
  });

  test('of a missing table speak of the schema', async ({ store }) => {
    await assert.rejects(store.sql.raw(`select secret from nowhere where x = 'hunter2'`), (error: unknown) => {
      assert.ok(error instanceof StoreError);
      assert.equal(error.code, 'schema');
      assert.doesNotMatch(`${error.stack}`, /hunter2/);
      return true;
    });
  });

  test('of our own making say that it is ours', async ({ store }) => {
    await assert.rejects(store.sql.raw(`select from where 'hunter2'`), (error: unknown) => {
      assert.ok(error instanceof StoreError);
      assert.equal(error.code, 'internal');
      assert.doesNotMatch(`${error.stack}`, /hunter2/);
      return true;
    });
  });

  test('of a closed store say that it is closed', async ({ open }) => {
    const store = open();
    await store.probe();
    await store.close();
    await assert.rejects(store.probe(), { code: 'closed' });
  });

  test('of a store that is being closed say so at once, and do not wait for a connection', async ({ open }) => {
    const store = open();
    await store.probe();
    const asked = store.transaction(async () => {
      const closing = store.close();
      await assert.rejects(store.probe(), { code: 'closed' });
      return { closing };
    });
    const { closing } = await asked;
    await closing;
  });
});
