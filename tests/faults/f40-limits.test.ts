import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OutboxBench, secondMs, type BenchChannel } from '../channels/outbox-bench.ts';
import { minuteMs } from '@cronjob-monitor/shared/domain';

const alerts = 1_000;
const perMinute = 50;
const burst = 10;

interface Arrived {
  readonly at: number;
  readonly channel: string;
  readonly severity: string;
  readonly alertIds: readonly string[];
}

/** F40: a thousand alerts in one second, 50 messages a minute, a burst of 10, and a restart in between. */
describe('F40, more alerts than may be told', () => {
  test('never more than 10 + 50 t go out, each alert is told, criticals first', async (t) => {
    const bench = await OutboxBench.start(t);
    const arrived: Arrived[] = [];
    const channels: BenchChannel[] = [];
    for (let count = 0; count < 8; count++) {
      const channel = await bench.addChannel('webhook', {
        rateLimiting: { maxAlertsPerHour: 10_000, burstLimit: burst },
      });
      channel.http?.answerAlways(({ body }) => {
        arrived.push({ at: bench.clock.now(), channel: channel.name, ...toArrived(body) });
        return {};
      });
      channels.push(channel);
    }
    const criticals = new Set<string>();
    for (let number = 0; number < alerts; number++) {
      const severity = number % 20 === 7 ? 'critical' : 'warning';
      const { alert } = await bench.tell(channels[number % channels.length] ?? (channels[0] as BenchChannel), {
        severity,
      });
      if (severity === 'critical') criticals.add(alert.id);
    }
    const beganAt = bench.clock.now();
    const settings = {
      globalLimit: { periodMs: minuteMs / perMinute, burst },
      startedMs: bench.clock.monotonicMs(),
      startupGraceMs: 0,
      clusterName: undefined,
      externalUrl: undefined,
      source: 'cronjob-monitor-1f2e3d4c',
    };
    const first = bench.start({ settings });
    await bench.pass(90 * secondMs, 2 * secondMs);
    await first.dispatcher.stop();
    bench.start({ settings });
    const untold = async () => (await bench.rows('select id from alerts where last_notified_at is null')).length;
    for (let minutes = 0; minutes < 20 && (await untold()) > 0; minutes++) await bench.pass(minuteMs, 2 * secondMs);

    assert.equal(await untold(), 0);
    const told = arrived.flatMap(({ alertIds }) => alertIds);
    assert.equal(new Set(told).size, alerts, 'each alert is named');
    assert.equal(told.length, alerts, 'and named once');
    for (const [index, { at }] of arrived.entries()) {
      const mayBe = burst + (perMinute * (at - beganAt)) / minuteMs;
      assert.ok(index + 1 <= mayBe + 1e-6, `${index + 1} messages after ${(at - beganAt) / 1_000} s`);
    }
    for (const channel of channels) {
      const own = arrived.filter(({ channel: name }) => name === channel.name);
      // What leaves in one moment may overtake on its way.
      const lastCritical = own.findLast(({ alertIds }) => alertIds.some((id) => criticals.has(id)))?.at ?? -Infinity;
      const firstOther = own.find(({ alertIds }) => alertIds.some((id) => !criticals.has(id)))?.at ?? Infinity;
      assert.ok(lastCritical <= firstOther, `${channel.name}: ${lastCritical - firstOther} ms after another`);
      assert.ok(own.every(({ alertIds }) => alertIds.length === 1 || alertIds.every((id) => !criticals.has(id))));
    }
    const open = await bench.rows("select id from deliveries where state not in ('sent', 'digested')");
    assert.equal(open.length, 0);
  });
});

function toArrived(body: string): Pick<Arrived, 'severity' | 'alertIds'> {
  const { data } = JSON.parse(body) as {
    data: {
      alert?: { id: string; severity: string };
      digest?: { total: number; alerts: readonly { id: string }[] };
    };
  };
  if (data.alert) return { severity: data.alert.severity, alertIds: [data.alert.id] };
  return { severity: 'digest', alertIds: (data.digest?.alerts ?? []).map(({ id }) => id) };
}
