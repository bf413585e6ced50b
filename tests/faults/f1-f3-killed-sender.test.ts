import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@cronjob-monitor/shared/process';
import {
  insertDelivery,
  migrate,
  openStore,
  projectChannel,
  takeEpoch,
  type NewDelivery,
  type Store,
  type StoreSettings,
} from '@cronjob-monitor/shared/store';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import { Child } from '../servers/child-process.ts';
import { HttpSink } from '../sinks/index.ts';
import { aDelivery } from '../store/alert-facts.ts';
import { testDatabases, type TestDatabase } from '../store/databases.ts';
import { readRows } from '../store/rows.ts';
import { timesOf } from './harness/counts.ts';
import type { SenderOrders } from './outbox/sender.ts';
import { aWebhookSpec } from './outbox/webhook-spec.ts';

const sender = fileURLToPath(new URL('outbox/sender.ts', import.meta.url));
/** faults.md section 7: the counts of these rows are lowered first, where the whole run takes too long. */
const timesOn = (database: string): number => timesOf({ ci: database === 'postgres' ? 3 : 2, soak: 200 });

/** An outbox, a receiver, and senders between them that are killed. */
class Stage {
  readonly store: Store;
  readonly epoch: number;
  readonly sink: HttpSink;
  readonly channel: { readonly uid: string; readonly name: string };
  readonly #settings: StoreSettings;
  readonly #folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-senders-'));

  private constructor(of: {
    store: Store;
    settings: StoreSettings;
    epoch: number;
    sink: HttpSink;
    channel: Stage['channel'];
  }) {
    this.store = of.store;
    this.epoch = of.epoch;
    this.sink = of.sink;
    this.channel = of.channel;
    this.#settings = of.settings;
  }

  static async start(database: TestDatabase): Promise<Stage> {
    const settings = await database.fresh();
    const store = openStore(settings, { clock: systemClock, log: new RecordingLogger() });
    await migrate(store, { version: 'test' });
    const epoch = await takeEpoch(store, 'test');
    const channel = { uid: randomUUID(), name: 'hook' };
    const judged = { ready: true, reason: 'Validated', message: '', secretVersion: '1' };
    await store.fenced(epoch, (tx) =>
      projectChannel(tx, { ...channel, type: 'webhook', generation: 1, spec: {}, ...judged }, store.now()),
    );
    return new Stage({ store, settings, epoch, channel, sink: await HttpSink.start() });
  }

  async tell(): Promise<NewDelivery> {
    const delivery = aDelivery(this.store, this.channel);
    await this.store.transaction((tx) => insertDelivery(tx, delivery));
    return delivery;
  }

  /** A sender of the same pod, started again. */
  startSender({ diesAtSecret = false } = {}): Child {
    const orders: SenderOrders = {
      settings: this.#settings,
      channels: [{ ...this.channel, spec: aWebhookSpec({ namespace: 'monitoring', name: 'hook', key: 'url' }) }],
      secrets: { hook: { url: this.sink.url } },
      diesAt: diesAtSecret ? 'secret' : undefined,
    };
    const path = join(this.#folder, `${randomUUID()}.json`);
    writeFileSync(path, JSON.stringify(orders));
    return new Child({ command: process.execPath, args: [sender, path] });
  }

  async stateOf({ id }: NewDelivery): Promise<unknown> {
    const [row] = await readRows(this.store, 'select state from deliveries where id = ?', [
      this.store.dialect.id16(id),
    ]);
    return row?.['state'];
  }

  async untilState(delivery: NewDelivery, state: string): Promise<void> {
    for (let waitedMs = 0; (await this.stateOf(delivery)) !== state; waitedMs += 50) {
      if (waitedMs > 20_000) throw new Error(`the message is ${String(await this.stateOf(delivery))}, not ${state}`);
      await wait(50);
    }
  }

  arrivalsOf({ id }: NewDelivery): number {
    return this.sink.arrivals.filter(({ headers }) => headers['idempotency-key'] === id).length;
  }

  async close(): Promise<void> {
    await this.sink.stop();
    await this.store.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

for (const database of testDatabases()) {
  describe(`a sender is killed hard, ${database.name}`, { skip: database.skip ?? false }, () => {
    const times = timesOn(database.name);
    let stage: Stage;
    before(async () => {
      stage = await Stage.start(database);
    });
    after(async () => {
      await stage.close();
      await database.remove();
    });

    test(`F1, ${times} times after the claim and before the send: nothing is lost, nothing doubled`, async () => {
      for (let time = 0; time < times; time++) {
        const delivery = await stage.tell();
        const dying = stage.startSender({ diesAtSecret: true });
        assert.equal((await dying.ended()).signal, 'SIGKILL', dying.output);
        assert.equal(await stage.stateOf(delivery), 'claimed');
        const next = stage.startSender();
        try {
          await stage.untilState(delivery, 'sent');
        } finally {
          await next.stop('SIGKILL');
        }
        assert.equal(stage.arrivalsOf(delivery), 1);
      }
    });

    test(`F2, ${times} times after the bytes and before the answer: sent again under the same key`, async () => {
      for (let time = 0; time < times; time++) {
        const before = stage.sink.arrivals.length;
        stage.sink.answerNext('hang');
        const delivery = await stage.tell();
        const dying = stage.startSender();
        await stage.sink.log.atLeast(before + 1, 20_000);
        await dying.stop('SIGKILL');
        const next = stage.startSender();
        try {
          await stage.untilState(delivery, 'sent');
        } finally {
          await next.stop('SIGKILL');
        }
        assert.equal(stage.arrivalsOf(delivery), 2);
        assert.equal(stage.sink.arrivals.length, before + 2, 'under no other key');
      }
    });

    test(`F3, ${times} times after the answer and before it is written: sent again under the same key`, async () => {
      for (let time = 0; time < times; time++) {
        const before = stage.sink.arrivals.length;
        stage.sink.answerNext({ delayMs: 400 });
        const delivery = await stage.tell();
        const dying = stage.startSender();
        await stage.sink.log.atLeast(before + 1, 20_000);
        // The answer comes, and cannot be written: another transaction holds the row.
        await stage.store.transaction(async (tx) => {
          const { dialect } = tx;
          await tx.sql.raw(`select id from deliveries where id = ?${dialect.lock.update}`, [
            dialect.id16(delivery.id) as string,
          ]);
          await wait(800);
          await dying.stop('SIGKILL');
        });
        assert.equal(await stage.stateOf(delivery), 'claimed');
        const next = stage.startSender();
        try {
          await stage.untilState(delivery, 'sent');
        } finally {
          await next.stop('SIGKILL');
        }
        assert.equal(stage.arrivalsOf(delivery), 2);
        assert.equal(stage.sink.arrivals.length, before + 2, 'under no other key');
      }
    });
  });
}
