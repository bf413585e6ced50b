import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { channels } from '@cronjob-monitor/controller/channels';
import { claimDeliveries, insertDelivery, projectMonitor, takeEpoch } from '@cronjob-monitor/shared/store';
import { aClaim, aDelivery } from '../store/alert-facts.ts';
import { monitorRules, OutboxBench, secondMs } from './outbox-bench.ts';
import { minuteMs } from '@cronjob-monitor/shared/domain';

describe('what is due', () => {
  for (const { type } of channels) {
    test(`reaches a ${type} receiver, and its row, its channel, the ledger and the metrics say so`, async (t) => {
      const bench = await OutboxBench.start(t);
      const channel = await bench.addChannel(type);
      const delivery = await bench.tell(channel);
      bench.start();
      await bench.arrive();
      assert.equal(channel.arrivals(), 1);
      assert.equal(await bench.stateOf(delivery), 'sent');
      const { sent_total: sent, failed_total: failures, ready } = await bench.channelRow(channel);
      assert.deepEqual([Number(sent), Number(failures), Number(ready)], [1, 0, 1]);
      const [line] = await bench.ledgerOf(delivery);
      assert.match(line ?? '', /^sent/);
      assert.deepEqual(bench.changed, [channel.uid]);
      const labels = `{namespace="prod",cronjob="backup",type="JobFailed",severity="warning",channel="${channel.name}"}`;
      assert.deepEqual(await bench.series('cronjob_monitor_alerts_total'), [`${labels} 1`]);
      assert.deepEqual(await bench.series('cronjob_monitor_alerts_failed_total'), []);
      assert.deepEqual(await bench.series('cronjob_monitor_deliveries_total'), [
        `{channel="${channel.name}",kind="firing",result="sent"} 1`,
      ]);
      assert.deepEqual(await bench.series('cronjob_monitor_notification_lag_seconds_count'), [' 1']);
      assert.deepEqual(await bench.series('cronjob_monitor_delivery_send_seconds_count'), [
        `{channel_type="${type}",result="ok"} 1`,
      ]);
    });
  }

  test('goes out at once when its commit wakes the dispatcher, and within a second when it does not', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    const { dispatcher } = bench.start();
    await bench.arrive();
    await bench.tell(channel);
    dispatcher.wake();
    await bench.arrive();
    assert.equal(channel.arrivals(), 1);
    await bench.tell(channel);
    await bench.arrive();
    assert.equal(channel.arrivals(), 1, 'not asked for');
    await bench.pass(secondMs);
    assert.equal(channel.arrivals(), 2);
  });

  test('that waits a moment goes at its instant: the dispatcher need not be woken then', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    await bench.tell(channel, { nextAt: bench.clock.now() + 250 });
    bench.start();
    await bench.pass(240, 40);
    assert.equal(channel.arrivals(), 0);
    await bench.pass(40, 10);
    assert.equal(channel.arrivals(), 1);
  });

  test('is counted while it waits, with its age', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    await bench.tell(channel, { createdAt: bench.clock.now() - 40_000 });
    channel.http?.answerAlways('hang');
    bench.start();
    await bench.pass(2 * secondMs);
    const counts = await bench.series('cronjob_monitor_deliveries{');
    assert.ok(counts.includes('state="claimed"} 0') && counts.includes('state="ready"} 1'), counts.join());
    assert.deepEqual(await bench.series('cronjob_monitor_delivery_queue_age_seconds'), [' 40']);
    await bench.pass(14 * secondMs);
    const later = await bench.series('cronjob_monitor_deliveries{');
    assert.ok(later.includes('state="claimed"} 1') || later.includes('state="ready"} 1'), later.join());
  });

  test('waits for the startup grace and the first evaluation, tests do not', async (t) => {
    const bench = await OutboxBench.start(t);
    bench.hasEvaluated = false;
    const channel = await bench.addChannel('webhook');
    const delivery = await bench.tell(channel);
    const asked = await bench.ask(channel);
    const settings = {
      globalLimit: { periodMs: 1, burst: 1_000 },
      startedMs: bench.clock.monotonicMs(),
      startupGraceMs: 30_000,
      clusterName: undefined,
      externalUrl: undefined,
      source: 'cronjob-monitor-1f2e3d4c',
    };
    bench.start({ settings });
    await bench.pass(20 * secondMs);
    assert.deepEqual([await bench.stateOf(asked), await bench.stateOf(delivery)], ['sent', 'ready']);
    assert.deepEqual(await bench.ledgerOf(delivery), ['held startupGrace']);
    await bench.pass(20 * secondMs);
    assert.equal(await bench.stateOf(delivery), 'ready', 'nothing was judged yet');
    bench.hasEvaluated = true;
    await bench.pass(secondMs);
    assert.equal(await bench.stateOf(delivery), 'sent');
    assert.deepEqual(await bench.ledgerOf(delivery), ['held startupGrace', 'sent 200']);
  });
});

describe('room', () => {
  test('eight are on their way at most, two on one channel, and one on a chat with a second between', async (t) => {
    const bench = await OutboxBench.start(t);
    const hooks = await Promise.all(Array.from({ length: 5 }, () => bench.addChannel('webhook')));
    for (const hook of hooks) hook.http?.answerAlways('hang');
    for (const hook of hooks) for (let count = 0; count < 3; count++) await bench.tell(hook);
    bench.start();
    await bench.pass(3 * secondMs);
    const onTheirWay = hooks.map((hook) => hook.arrivals());
    assert.deepEqual([onTheirWay.reduce((sum, count) => sum + count), Math.max(...onTheirWay)], [8, 2]);
    const other = await OutboxBench.start(t);
    const quick = await other.addChannel('chat');
    for (let count = 0; count < 4; count++) await other.tell(quick);
    other.start();
    await other.arrive();
    assert.equal(quick.arrivals(), 1);
    await other.pass(900, 100);
    assert.equal(quick.arrivals(), 1);
    await other.pass(100, 100);
    assert.equal(quick.arrivals(), 2);
    await other.pass(2 * secondMs, 100);
    assert.equal(quick.arrivals(), 4);
  });
});

describe('a message of a stream', () => {
  test('waits for the one before it, however often that fails', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    const opening = await bench.tell(channel);
    const closing = await bench.tell(channel, {
      streamId: opening.streamId,
      seq: 2,
      kind: 'closing',
      severity: 'critical',
    });
    channel.http?.answerNext({ status: 500 }, { status: 500 });
    bench.start();
    await bench.pass(2 * minuteMs);
    const keys = channel.http?.arrivals.map(({ headers }) => headers['idempotency-key']);
    assert.deepEqual(keys, [opening.id, opening.id, opening.id, closing.id]);
    const bodies = channel.http?.arrivals.slice(0, 3).map(({ body }) => body);
    assert.equal(new Set(bodies).size, 1, 'the same bytes on every attempt');
  });

  test('that a receiver finds too large goes again in the reduced form', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('chat');
    channel.http?.answerNext({ status: 400, body: 'invalid_blocks' });
    const delivery = await bench.tell(channel);
    bench.start();
    await bench.pass(3 * secondMs);
    const bodies = channel.http?.arrivals.map(({ body }) => Object.hasOwn(JSON.parse(body) as object, 'blocks'));
    assert.deepEqual(bodies, [true, false]);
    assert.equal(await bench.stateOf(delivery), 'sent');
  });

  test('that waited says what held it, in words that stay', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook', { rateLimiting: { maxAlertsPerHour: 30, burstLimit: 1 } });
    const [first, second] = [await bench.tell(channel), await bench.tell(channel)];
    bench.start();
    await bench.pass(secondMs);
    channel.http?.answerNext({ status: 503 });
    await bench.pass(4 * minuteMs);
    assert.deepEqual([await bench.stateOf(first), await bench.stateOf(second)], ['sent', 'sent']);
    const bodies = (channel.http?.arrivals ?? []).slice(1).map(({ body }) => body);
    assert.equal(bodies.length, 2);
    assert.equal(bodies[0], bodies[1]);
    const { alert } = (JSON.parse(bodies[0] ?? '') as { data: { alert: Record<string, unknown> } }).data;
    assert.equal(alert['heldBy'], 'rateLimit');
    assert.ok(Number(alert['heldSeconds']) >= 119, String(alert['heldSeconds']));
    assert.deepEqual(await bench.series('cronjob_monitor_notification_lag_seconds_count'), [' 1']);
  });

  test('that would page for what is over does not go out', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('paging');
    const over = await bench.tell(channel, { alert: { state: 'resolved', endedAt: 1 } });
    bench.start();
    await bench.arrive();
    assert.equal(channel.arrivals(), 0);
    assert.deepEqual(
      [await bench.stateOf(over), await bench.ledgerOf(over)],
      ['cancelled', ['cancelled clearedBeforeSent']],
    );
  });

  test('goes out by what its monitor says now, though the row of the monitor still says that alerting is off', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    const monitor = { uid: randomUUID(), namespace: 'prod', name: 'nightly', generation: 1, createdAt: 0 };
    const judged = { phase: 'Active', conditions: [], counts: null, evaluatedAt: undefined } as const;
    const { id: monitorId } = await bench.store.fenced(bench.epoch, (tx) =>
      projectMonitor(tx, { ...monitor, ...judged, spec: { alerting: { enabled: false } } }),
    );
    let isEnabled = false;
    const asked = new Set<string>();
    bench.start({
      rulesOf: ({ monitor: { namespace, name }, cronJobName }) => {
        asked.add(`${namespace}/${name} of ${cronJobName}`);
        return { ...monitorRules, alerting: { enabled: isEnabled, channelRefs: [] } };
      },
    });
    const unwanted = await bench.tell(channel, { alert: { monitorId } });
    await bench.pass(secondMs);
    assert.deepEqual(await bench.ledgerOf(unwanted), ['cancelled alertingDisabled']);
    isEnabled = true;
    const wanted = await bench.tell(channel, { alert: { monitorId } });
    await bench.pass(secondMs);
    assert.deepEqual([await bench.stateOf(wanted), channel.arrivals()], ['sent', 1]);
    assert.deepEqual([...asked], ['prod/nightly of backup']);
  });

  test('that some recipients put off goes to those alone', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('email');
    if (channel.smtp) channel.smtp.script = { recipients: { 'team@example.org': 451 } };
    const delivery = await bench.tell(channel);
    bench.start();
    await bench.arrive();
    assert.equal(await bench.stateOf(delivery), 'ready');
    if (channel.smtp) channel.smtp.script = {};
    await bench.pass(minuteMs);
    assert.deepEqual(
      channel.smtp?.arrivals.map(({ to }) => to),
      [['ops@example.org'], ['team@example.org']],
    );
    assert.equal(await bench.stateOf(delivery), 'sent');
  });
});

describe('a channel', () => {
  test('without its Secret parks what it has, spends nothing, and goes on when the Secret is there', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    const key = `monitoring/${channel.name}`;
    const content = bench.secrets.get(key);
    bench.secrets.delete(key);
    const [first, second] = [await bench.tell(channel), await bench.tell(channel, { nextAt: bench.clock.now() + 1 })];
    bench.start();
    await bench.pass(10 * secondMs);
    const row = await bench.rowOf(first);
    assert.deepEqual([row['state'], Number(row['attempts']), await bench.stateOf(second)], ['parked', 0, 'parked']);
    assert.match(String(row['last_error']), /does not exist/);
    assert.deepEqual(await bench.series(`cronjob_monitor_channel_hold{channel="${channel.name}",hold="invalid"}`), [
      ' 1',
    ]);
    assert.equal((await bench.channelRow(channel))['hold'], 'invalid');
    if (content) bench.secrets.set(key, content);
    await bench.pass(66 * secondMs);
    assert.deepEqual([await bench.stateOf(first), await bench.stateOf(second)], ['sent', 'sent']);
    assert.deepEqual((await bench.channelRow(channel))['hold'], null);
    const failures = await bench.series('cronjob_monitor_alerts_failed_total');
    assert.equal(failures.length, 1);
    assert.deepEqual(await bench.ledgerOf(first), ['attemptFailed secret', 'parked secret', 'sent 200']);
  });

  test('whose Secret the API server does not answer for waits without blame', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    const delivery = await bench.tell(channel);
    bench.beforeSecret = () => Promise.reject(new Error('no connection'));
    bench.start();
    await bench.pass(5 * secondMs);
    const row = await bench.rowOf(delivery);
    assert.deepEqual([row['state'], Number(row['attempts']), row['last_error']], ['ready', 0, null]);
    bench.beforeSecret = undefined;
    await bench.pass(10 * secondMs);
    assert.equal(await bench.stateOf(delivery), 'sent');
  });

  test('in a namespace that is not allowed is not even read, and its address is not told', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    let reads = 0;
    bench.beforeSecret = async () => {
      reads++;
    };
    const delivery = await bench.tell(channel);
    bench.start({ secretRules: { namespaces: ['elsewhere'], labelled: [] } });
    await bench.arrive();
    assert.equal(reads, 0);
    assert.match(String((await bench.rowOf(delivery))['last_error']), /channels\.secret-namespaces/);
  });

  test('that delivers again tells anew of what was given up and still holds', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    channel.http?.answerAlways({ status: 404 });
    const lost = await bench.tell(channel);
    bench.start();
    await bench.pass(10 * secondMs);
    assert.equal(await bench.stateOf(lost), 'parked');
    await bench.store.sql('deliveries').update({ expires_at: bench.clock.now() });
    await bench.pass(10 * secondMs);
    assert.equal(await bench.stateOf(lost), 'dead');
    assert.deepEqual(await bench.ledgerOf(lost).then((all) => all.at(-1)), 'dead expired');
    channel.http?.answerAlways({});
    await bench.ask(channel);
    await bench.pass(2 * minuteMs);
    const told = await bench.rows("select id, state from deliveries where kind = 'firing' order by seq");
    assert.deepEqual(
      told.map(({ state }) => state),
      ['dead', 'sent'],
    );
    const last = JSON.parse(channel.http?.arrivals.at(-1)?.body ?? '') as { data: { alert: Record<string, unknown> } };
    assert.deepEqual([last.data.alert['heldBy'], last.data.alert['notification']], ['parked', 2]);
  });

  test('is tested once, whatever holds it, and a test that arrives lifts the hold', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    channel.http?.answerAlways({ status: 401 });
    const delivery = await bench.tell(channel);
    bench.start();
    await bench.pass(secondMs);
    assert.equal(await bench.stateOf(delivery), 'parked');
    const failing = await bench.ask(channel);
    await bench.pass(secondMs);
    assert.equal(await bench.stateOf(failing), 'dead');
    channel.http?.answerAlways({});
    const good = await bench.ask(channel);
    await bench.pass(2 * secondMs);
    assert.deepEqual([await bench.stateOf(good), await bench.stateOf(delivery)], ['sent', 'sent']);
    const row = await bench.channelRow(channel);
    assert.deepEqual([row['hold'], Number(row['sent_total']), Number(row['failed_total'])], [null, 1, 1]);
    assert.match(String(row['last_test']), /"success":true/);
    const tests = (await bench.series('cronjob_monitor_alerts_total')).filter((line) => line.includes('"Test"'));
    assert.deepEqual(tests, [`{namespace="",cronjob="",type="Test",severity="info",channel="${channel.name}"} 1`]);
  });
});

describe('the lead', () => {
  test('of an earlier boot of this pod leaves nothing claimed; what may have been sent goes again under its key', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    const mine = await bench.tell(channel);
    const claim = (claimedBy: string) =>
      bench.store.fenced(bench.epoch, (tx) => claimDeliveries(tx, aClaim({ claimedBy })));
    await claim('pod/earlier');
    const theirs = await bench.tell(channel);
    await claim('other/boot');
    bench.start();
    await bench.arrive();
    assert.deepEqual([await bench.stateOf(mine), await bench.stateOf(theirs)], ['sent', 'claimed']);
    await bench.pass(31 * secondMs);
    assert.equal(await bench.stateOf(theirs), 'sent');
  });

  test('when lost ends it: nothing more is sent or written', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    bench.start();
    await bench.arrive();
    await takeEpoch(bench.store, 'another');
    await bench.pass(secondMs);
    assert.equal(bench.fenced, 1);
    await bench.store.transaction((tx) => insertDelivery(tx, aDelivery(bench.store, channel)));
    await bench.pass(5 * secondMs);
    assert.equal(channel.arrivals(), 0);
  });

  test('when lost during a send leaves the row as it is', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    channel.http?.answerAlways('hang');
    const delivery = await bench.tell(channel);
    const { term } = bench.start();
    await bench.arrive();
    term.abort(new Error('the lead is lost'));
    await bench.pass(20 * secondMs);
    assert.equal(await bench.stateOf(delivery), 'claimed');
  });

  test('a claim with less time than a send may take is put back unsent', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    const delivery = await bench.tell(channel);
    let reads = 0;
    bench.beforeSecret = (signal) => (reads++ === 0 ? bench.clock.sleep(16 * secondMs, signal) : Promise.resolve());
    bench.start();
    await bench.arrive(200);
    await bench.clock.advance(15 * secondMs);
    assert.equal(channel.arrivals(), 0);
    await bench.pass(5 * secondMs);
    assert.deepEqual([reads >= 1, await bench.stateOf(delivery), channel.arrivals()], [true, 'sent', 1]);
    assert.equal(Number((await bench.rowOf(delivery))['attempts']), 1, 'what was put back is no attempt');
  });

  test('given back in order waits for what is on its way, and claims nothing more', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    channel.http?.answerNext({ delayMs: 60 });
    const delivery = await bench.tell(channel);
    const { dispatcher } = bench.start();
    await bench.arriveAtReceiver(channel);
    const stopped = dispatcher.stop();
    const late = await bench.tell(channel);
    dispatcher.wake();
    await stopped;
    assert.deepEqual([await bench.stateOf(delivery), await bench.stateOf(late)], ['sent', 'ready']);
  });
});

test('a digest takes the place of what waits for the limit, and all of it is told', async (t) => {
  const bench = await OutboxBench.start(t);
  const channel = await bench.addChannel('webhook', { rateLimiting: { maxAlertsPerHour: 60, burstLimit: 5 } });
  for (let count = 0; count < 30; count++) await bench.tell(channel);
  bench.start();
  await bench.pass(5 * minuteMs);
  const states = await bench.rows('select state, count(*) as n from deliveries group by state order by state');
  assert.deepEqual(
    states.map(({ state }) => state),
    ['digested', 'sent'],
  );
  const types = channel.http?.arrivals.map(({ body }) => (JSON.parse(body) as { type: string }).type) ?? [];
  assert.equal(types.filter((type) => type === 'alert.digest').length, 1);
  const digested = Number(states[0]?.['n']);
  assert.equal(types.length, 30 - digested + 1);
  const untold = await bench.rows('select id from alerts where last_notified_at is null');
  assert.equal(untold.length, 0);
  assert.deepEqual(
    (await bench.series('cronjob_monitor_deliveries_total')).filter((line) => line.includes('digested')),
    [`{channel="${channel.name}",kind="firing",result="digested"} ${digested}`],
  );
});

describe('a leader that is not sure of its lead', () => {
  const guardOf = (bench: OutboxBench, earlierEndMs = bench.clock.monotonicMs()) => {
    let open = Promise.withResolvers<void>();
    return {
      earlierEndMs,
      isSure: true,
      isOpen(): boolean {
        return this.isSure;
      },
      whenOpen(): Promise<void> {
        return this.isSure ? Promise.resolve() : open.promise;
      },
      becomeSure(): void {
        this.isSure = true;
        open.resolve();
        open = Promise.withResolvers<void>();
      },
    };
  };

  test('begins no send, and sends what it claimed as soon as it is sure again', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    const guard = guardOf(bench);
    guard.isSure = false;
    const delivery = await bench.tell(channel);
    bench.start({ guard });
    await bench.pass(5 * secondMs);
    assert.deepEqual([channel.arrivals(), await bench.stateOf(delivery)], [0, 'claimed']);
    guard.becomeSure();
    await bench.arrive();
    assert.deepEqual([channel.arrivals(), await bench.stateOf(delivery)], [1, 'sent']);
  });

  test('begins no send when it is no longer sure once the Secret is read', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    const guard = guardOf(bench);
    bench.beforeSecret = async () => void (guard.isSure = false);
    const delivery = await bench.tell(channel);
    bench.start({ guard });
    await bench.pass(3 * secondMs);
    assert.equal(channel.arrivals(), 0);
    bench.beforeSecret = undefined;
    guard.becomeSure();
    await bench.pass(3 * secondMs);
    assert.deepEqual([channel.arrivals(), await bench.stateOf(delivery)], [1, 'sent']);
  });

  test('what another leader had claimed is sent again once that one can begin no send, long before the claim runs out', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    const delivery = await bench.tell(channel);
    await bench.store.fenced(bench.epoch, (tx) => claimDeliveries(tx, aClaim({ claimedBy: 'other/boot' })));
    const epoch = await takeEpoch(bench.store, 'next');
    bench.start({ epoch, guard: guardOf(bench, bench.clock.monotonicMs() + 2 * secondMs) });
    await bench.pass(secondMs);
    assert.equal(channel.arrivals(), 0);
    await bench.pass(2 * secondMs);
    assert.deepEqual([channel.arrivals(), await bench.stateOf(delivery)], [1, 'sent']);
  });
});
