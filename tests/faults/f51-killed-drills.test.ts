import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { DrillOutcome } from '@cronjob-monitor/shared/contract';
import { systemClock } from '@cronjob-monitor/shared/process';
import {
  acknowledgeDrill,
  findProof,
  listDrills,
  migrate,
  openStore,
  projectChannel,
  takeEpoch,
  type Store,
  type StoredDrill,
  type StoreSettings,
} from '@cronjob-monitor/shared/store';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import { Child } from '../servers/child-process.ts';
import { HttpSink } from '../sinks/index.ts';
import { testDatabases, type TestDatabase } from '../store/databases.ts';
import { readNumber } from '../store/rows.ts';
import type { SenderOrders } from './outbox/sender.ts';
import { aWebhookSpec } from './outbox/webhook-spec.ts';
import { minuteMs } from '@cronjob-monitor/shared/domain';

const sender = fileURLToPath(new URL('outbox/sender.ts', import.meta.url));
const withinMs = 30_000;
const linkOf = /\/drills\/([0-9a-f-]{36})\?key=([0-9a-f]{32})/;

/** A database, and leaders of it that are killed. */
class Stage {
  readonly store: Store;
  readonly epoch: number;
  readonly settings: StoreSettings;
  readonly folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-drills-'));

  private constructor(store: Store, settings: StoreSettings, epoch: number) {
    this.store = store;
    this.settings = settings;
    this.epoch = epoch;
  }

  static async start(database: TestDatabase): Promise<Stage> {
    const settings = await database.fresh();
    const store = openStore(settings, { clock: systemClock, log: new RecordingLogger() });
    await migrate(store, { version: 'test' });
    return new Stage(store, settings, await takeEpoch(store, 'test'));
  }

  async close(): Promise<void> {
    await this.store.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A channel whose drill is due, its fallback channel, and a receiver behind each. */
class Scene {
  readonly channel = { uid: randomUUID(), name: 'team' };
  readonly fallback = { uid: randomUUID(), name: 'on-call' };
  readonly #stage: Stage;
  readonly #sinks: Readonly<Record<'team' | 'on-call', HttpSink>>;
  readonly #ackWithin: string;
  readonly #leaders: Child[] = [];
  /** Ten minutes ago, while none led. */
  readonly #dueAt = new Date(Date.now() - 10 * minuteMs);

  private constructor(stage: Stage, sinks: Readonly<Record<'team' | 'on-call', HttpSink>>, ackWithin: string) {
    this.#stage = stage;
    this.#sinks = sinks;
    this.#ackWithin = ackWithin;
  }

  static async open(stage: Stage, ackWithin: string): Promise<Scene> {
    const sinks = { team: await HttpSink.start(), 'on-call': await HttpSink.start() };
    const scene = new Scene(stage, sinks, ackWithin);
    const judged = { ready: true, reason: 'Validated', message: '', secretVersion: '1', generation: 1, spec: {} };
    for (const each of [scene.channel, scene.fallback])
      await stage.store.fenced(await takeEpoch(stage.store, 'test'), (tx) =>
        projectChannel(tx, { ...each, ...judged, type: 'webhook' }, stage.store.now()),
      );
    return scene;
  }

  get team(): HttpSink {
    return this.#sinks.team;
  }

  get onCall(): HttpSink {
    return this.#sinks['on-call'];
  }

  /** A process that leads, of the same pod, started again. */
  lead(diesAt?: SenderOrders['diesAt']): Child {
    const drill = {
      schedule: `${this.#dueAt.getUTCMinutes()} ${this.#dueAt.getUTCHours()} * * *`,
      timezone: 'UTC',
      ackWithin: this.#ackWithin,
      fallbackChannel: this.fallback.name,
    };
    const specOf = (name: string) => aWebhookSpec({ namespace: 'monitoring', name, key: 'url' });
    const orders: SenderOrders = {
      settings: this.#stage.settings,
      channels: [
        { ...this.channel, spec: { ...specOf('team'), drill } },
        { ...this.fallback, spec: specOf('on-call') },
      ],
      secrets: { team: { url: this.team.url }, 'on-call': { url: this.onCall.url } },
      diesAt,
      drillsSince: this.#dueAt.getTime() - minuteMs,
    };
    const path = join(this.#stage.folder, `${randomUUID()}.json`);
    writeFileSync(path, JSON.stringify(orders));
    const leader = new Child({ command: process.execPath, args: [sender, path] });
    this.#leaders.push(leader);
    return leader;
  }

  /** A leader that ends hard by itself at that moment. */
  async dies(at: NonNullable<SenderOrders['diesAt']>): Promise<void> {
    const leader = this.lead(at);
    assert.equal((await leader.ended()).signal, 'SIGKILL', leader.output);
  }

  async drills(): Promise<readonly StoredDrill[]> {
    return (await listDrills(this.#stage.store, this.channel.uid, { limit: 10, offset: 0 })).drills;
  }

  /** A person presses the link of the message that arrived, and no leader has to be there. */
  async press(): Promise<string> {
    const [, id = '', key = ''] = linkOf.exec(this.team.arrivals[0]?.body ?? '') ?? [];
    return (await this.#stage.store.transaction((tx) => acknowledgeDrill(tx, { id, key, by: 'ana' }))).kind;
  }

  /** Holds the row of the drill's message while `work` runs: what its receiver answered cannot be written. */
  async holdMessage(work: () => Promise<void>): Promise<void> {
    const [drill] = await this.drills();
    await this.#stage.store.transaction(async (tx) => {
      const { dialect } = tx;
      await tx.sql.raw(`select id from deliveries where id = ?${dialect.lock.update}`, [
        dialect.id16(drill?.deliveryId ?? '') as string,
      ]);
      await work();
    });
  }

  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    for (let waitedMs = 0; !(await holds()); waitedMs += 50) {
      if (waitedMs > withinMs)
        throw new Error(
          `${what}: not within ${withinMs} ms; ${JSON.stringify(await this.drills())}; ${this.#leaders.at(-1)?.output ?? ''}`,
        );
      await wait(50);
    }
  }

  async untilSent(): Promise<void> {
    await this.until('the drill is sent', async () => (await this.drills())[0]?.sentAt !== undefined);
  }

  /** The leader stays until the drill is over and all that was told of it has arrived. */
  async untilOver(): Promise<void> {
    const { store } = this.#stage;
    await this.until('the drill is over', async () => {
      const open =
        "select count(*) as n from deliveries where state in ('ready', 'claimed', 'parked') and channel_uid in (?, ?)";
      const uids = [this.channel, this.fallback].map(({ uid }) => store.dialect.id16(uid));
      const unended = 'select count(*) as n from drills where channel_uid = ? and ended_at is null';
      const drills = (await this.drills()).length;
      return (
        drills > 0 &&
        (await readNumber(store, unended, uids.slice(0, 1))) === 0 &&
        (await readNumber(store, open, uids)) === 0
      );
    });
  }

  /** What came of all: one drill with a truthful end, one message of it, and one to the fallback channel where it is not proved. */
  async assertOnce(outcome: DrillOutcome, sends: { readonly team: number; readonly onCall: number }): Promise<void> {
    const drills = await this.drills();
    assert.deepEqual(
      drills.map((drill) => [drill.outcome, drill.ackedBy]),
      [[outcome, outcome === 'proved' ? 'ana' : undefined]],
    );
    const keysOf = (sink: HttpSink) => new Set(sink.arrivals.map(({ headers }) => headers['idempotency-key']));
    assert.deepEqual([...keysOf(this.team)], [drills[0]?.deliveryId], 'under no other key');
    assert.equal(keysOf(this.onCall).size, outcome === 'proved' ? 0 : 1);
    assert.deepEqual([this.team.arrivals.length, this.onCall.arrivals.length], [sends.team, sends.onCall]);
    const proof = await findProof(this.#stage.store, this.channel.uid);
    assert.deepEqual(
      [proof?.provedBy, proof?.missed?.outcome],
      outcome === 'proved' ? ['ana', undefined] : [undefined, outcome],
    );
  }

  async close(): Promise<void> {
    for (const leader of this.#leaders) await leader.stop('SIGKILL');
    await Promise.all([this.team.stop(), this.onCall.stop()]);
  }
}

/** F51: the leader is killed at each stage of a drill. */
for (const database of testDatabases()) {
  describe(`F51, a leader that drills is killed hard, ${database.name}`, { skip: database.skip ?? false }, () => {
    let stage: Stage;
    before(async () => {
      stage = await Stage.start(database);
    });
    after(async () => {
      await stage.close();
      await database.remove();
    });
    const stages = (title: string, ackWithin: string, run: (scene: Scene) => Promise<void>): void => {
      test(title, async (t) => {
        const scene = await Scene.open(stage, ackWithin);
        t.after(() => scene.close());
        await run(scene);
      });
    };

    stages('as it begins the drill: nothing of it is left, the next one makes up for it', '1h', async (scene) => {
      await scene.dies('before the commit of the beginning');
      assert.deepEqual(await scene.drills(), []);
      scene.lead();
      await scene.untilSent();
      assert.equal(await scene.press(), 'proved');
      await scene.untilOver();
      await scene.assertOnce('proved', { team: 1, onCall: 0 });
    });

    stages('once the drill is written, and once its message is claimed: it is sent once', '1h', async (scene) => {
      await scene.dies('after the commit of the beginning');
      assert.deepEqual(
        (await scene.drills()).map(({ outcome }) => outcome),
        ['waiting'],
      );
      await scene.dies('secret');
      assert.equal(scene.team.arrivals.length, 0);
      scene.lead();
      await scene.untilSent();
      assert.equal(await scene.press(), 'proved');
      await scene.untilOver();
      await scene.assertOnce('proved', { team: 1, onCall: 0 });
    });

    stages('as its message is on the way: it is sent again under the same key', '1h', async (scene) => {
      scene.team.answerNext('hang');
      const dying = scene.lead();
      await scene.team.log.atLeast(1, withinMs);
      await dying.stop('SIGKILL');
      scene.lead();
      await scene.untilSent();
      assert.equal(await scene.press(), 'proved');
      await scene.untilOver();
      await scene.assertOnce('proved', { team: 2, onCall: 0 });
    });

    stages('before what the receiver answered is written: who pressed the link has proved it', '1h', async (scene) => {
      scene.team.answerNext({ delayMs: 400 });
      const dying = scene.lead();
      await scene.team.log.atLeast(1, withinMs);
      await scene.holdMessage(async () => {
        await wait(800);
        await dying.stop('SIGKILL');
      });
      assert.equal((await scene.drills())[0]?.sentAt, undefined);
      assert.equal(await scene.press(), 'proved');
      scene.lead();
      await scene.untilOver();
      // The next leader takes it back, unless its sender was there first.
      const sends = scene.team.arrivals.length;
      assert.ok(sends <= 2, `${sends} sends`);
      await scene.assertOnce('proved', { team: sends, onCall: 0 });
    });

    stages('while the link may be pressed: pressed with no leader there, it is proved', '1h', async (scene) => {
      const dying = scene.lead();
      await scene.untilSent();
      await dying.stop('SIGKILL');
      assert.equal(await scene.press(), 'proved');
      scene.lead();
      await scene.untilOver();
      await scene.assertOnce('proved', { team: 1, onCall: 0 });
    });

    stages('and its time is over with no leader there: not proved, and told once', '2s', async (scene) => {
      const dying = scene.lead();
      await scene.untilSent();
      await dying.stop('SIGKILL');
      await wait(2_100);
      assert.equal(await scene.press(), 'over');
      scene.lead();
      await scene.untilOver();
      await scene.assertOnce('reached', { team: 1, onCall: 1 });
    });

    stages('as it ends the drill, and once it has ended: it ends once, and is told once', '1s', async (scene) => {
      await scene.dies('before the commit of the end');
      assert.equal((await scene.drills())[0]?.outcome, 'waiting');
      assert.equal(scene.onCall.arrivals.length, 0);
      await scene.dies('after the commit of the end');
      assert.equal((await scene.drills())[0]?.outcome, 'reached');
      scene.lead();
      await scene.untilOver();
      await scene.assertOnce('reached', { team: 1, onCall: 1 });
    });

    stages('as it tells the fallback channel: told again under the same key', '1s', async (scene) => {
      scene.onCall.answerNext('hang');
      const dying = scene.lead();
      await scene.onCall.log.atLeast(1, withinMs);
      await dying.stop('SIGKILL');
      scene.lead();
      await scene.untilOver();
      await scene.assertOnce('reached', { team: 1, onCall: 2 });
    });
  });
}
