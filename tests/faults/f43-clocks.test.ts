import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRows } from '../store/rows.ts';
import { aCronJob, openStage } from './ledger/stage.ts';
import { minuteMs, hourMs } from '@cronjob-monitor/shared/domain';

const delayMs = 5 * minuteMs;
const lookMs = 30_000;

/** The clock of our machine: by how much it is ahead of the cluster's, at an instant of the cluster. */
interface Story {
  readonly says: string;
  readonly aheadMs: (sinceStartMs: number) => number;
  /** Our own measure of time runs off, and delays are as long as it says. */
  readonly toleranceMs: number;
}

const stories: readonly Story[] = [
  { says: 'that is right', aheadMs: () => 0, toleranceMs: 0 },
  {
    says: 'that is set an hour ahead, and right again half an hour later',
    aheadMs: (ms) => (ms >= 36.5 * minuteMs && ms < 65 * minuteMs ? hourMs : 0),
    toleranceMs: 0,
  },
  {
    says: 'that is set an hour back, and right again while a delay runs',
    aheadMs: (ms) => (ms >= 10 * minuteMs && ms < 36 * minuteMs ? -hourMs : 0),
    toleranceMs: 0,
  },
  { says: 'that runs 30 s an hour too fast', aheadMs: (ms) => ms / 120, toleranceMs: delayMs / 100 },
  { says: 'that runs 30 s an hour too slow', aheadMs: (ms) => -ms / 120, toleranceMs: 0 },
];

/** F43: what a clock says does not make a run that came one that did not, and no delay shorter. New York goes back at 06:00 UTC. */
for (const { says, aheadMs, toleranceMs } of stories) {
  test(`F43, a clock ${says}, across a change of winter time: no false dead-man, no delay ends early`, async (t) => {
    const startAt = Date.parse('2026-11-01T05:10:00Z');
    const monitor = (name: string, spec: object) => ({
      namespace: 'default',
      name,
      spec: { selector: { matchNames: [name] }, alerting: { channelRefs: [{ name: 'hook' }] }, ...spec },
    });
    let clusterNow = (): number => startAt;
    const hourly = { schedule: '0 * * * *', timeZone: 'America/New_York' };
    const fails = monitor('fails', { deadManSwitch: { enabled: false } });
    const stage = await openStage(t, {
      startAt: new Date(startAt).toISOString(),
      cronJobs: [
        aCronJob('fixed', hourly),
        aCronJob('auto', hourly),
        // It fails a quarter of an hour before the change.
        aCronJob('fails', { schedule: '45 5 * * *' }, { outcome: 'exit:1' }),
        // Something of each kind comes all the time, as on any cluster at work.
        aCronJob('pulse', { schedule: '* * * * *' }),
      ],
      verdicts: {
        monitors: [
          monitor('fixed', { deadManSwitch: { enabled: true, maxTimeSinceLastSuccess: '70m' } }),
          monitor('auto', { deadManSwitch: { enabled: true, autoFromSchedule: { enabled: true, buffer: '10m' } } }),
          { ...fails, spec: { ...fails.spec, alerting: { channelRefs: [{ name: 'hook' }], alertDelay: '5m' } } },
        ],
        channels: ['hook'],
        serverOffsetMs: () => -Math.round(aheadMs(clusterNow() - startAt)),
      },
      clockOf: ({ clock }) => {
        clusterNow = () => clock.now();
        return {
          now: () => clusterNow() + Math.round(aheadMs(clusterNow() - startAt)),
          monotonicMs: () => clusterNow() - startAt + 1,
          sleep: (ms) => (ms <= 0 ? Promise.resolve() : new Promise(() => {})),
          every: () => {},
        };
      },
    });
    const alerts = () => readRows(stage.rig.store, 'select type, cronjob_name, state from alerts');

    let detectedAt: number | undefined;
    let toldAt: number | undefined;
    for (let at = startAt + minuteMs; at <= startAt + 3 * hourMs; at += lookMs) {
      await stage.passTo(at);
      await stage.rig.tick();
      for (const { type, cronjob_name: name, state } of await alerts()) {
        assert.deepEqual([type, name], ['jobFailed', 'fails'], `${new Date(at).toISOString()}: a false alert`);
        if (state === 'pending') detectedAt ??= at;
        if (state === 'active') toldAt ??= at;
      }
    }
    assert.ok(detectedAt !== undefined && toldAt !== undefined, 'the failure is told in the end');
    assert.ok(toldAt - detectedAt >= delayMs - lookMs - toleranceMs, `told ${(toldAt - detectedAt) / 1_000} s after`);
  });
}
