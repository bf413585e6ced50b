import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@cronjob-monitor/shared/process';
import { aCronJobObject, aJobObject, startRecording, type RecordingFixture } from '../testing/recording-fixture.ts';

const apiVersion = 'cronjob-monitor.io/v1alpha1';

test('what the first look over an empty database finds is one digest for each channel', async (t) => {
  const names = ['one', 'two', 'three'];
  const fixture = await startRecording({}, async ({ objects }) => {
    tellHooks(objects);
    // So are levels that are due: one that was suspended for too long, and one whose last success is too long ago.
    const levels = {
      rests: { suspendedHandling: { alertIfSuspendedFor: '1s' } },
      dead: { deadManSwitch: { enabled: true, maxTimeSinceLastSuccess: '2s' } },
    };
    for (const [name, level] of Object.entries(levels)) {
      const { uid } = objects.put(aCronJobObject(name, { suspend: name === 'rests' })).metadata;
      objects.put(aJobObject({ uid, name }, `${name}-1`, 'success'));
      const spec = { selector: { matchNames: [name] }, alerting: { channelRefs: [{ name: 'hooks' }] }, ...level };
      objects.put({ apiVersion, kind: 'CronJobMonitor', metadata: { namespace: 'prod', name }, spec });
    }
    for (const name of names) {
      const { uid } = objects.put(aCronJobObject(name)).metadata;
      objects.put(aJobObject({ uid, name }, `${name}-1`, 'exit:1'));
    }
    const { uid } = objects.put(aCronJobObject('mended')).metadata;
    objects.put(aJobObject({ uid, name: 'mended' }, 'mended-1', 'exit:1'));
    await systemClock.sleep(2_500);
    objects.put(aJobObject({ uid, name: 'mended' }, 'mended-2', 'success'));
    await systemClock.sleep(2_500);
  });
  t.after(() => fixture.stop());
  const firing = [...names, 'rests', 'dead'].map(() => 'firing digested');
  await hasDeliveries(fixture, ['closing cancelled', 'closing digested', 'digest firstPass', ...firing]);
});

test('so are the failures of a single CronJob, of which only the last one lasts', async (t) => {
  const fixture = await startRecording({}, async ({ objects }) => {
    tellHooks(objects);
    const name = 'backup';
    const { uid } = objects.put(aCronJobObject(name)).metadata;
    for (const [index, outcome] of ['exit:1', 'success', 'exit:1', 'success', 'exit:1'].entries()) {
      objects.put(aJobObject({ uid, name }, `${name}-${index + 1}`, outcome));
      await systemClock.sleep(2_500);
    }
  });
  t.after(() => fixture.stop());
  const ofEnded = ['closing cancelled', 'closing digested'];
  // The last failure of the three is a change too many for one hour.
  await hasDeliveries(fixture, [...ofEnded, 'digest firstPass', 'firing digested', 'flapping cancelled']);
});

/** The monitor of the fixture names a channel. */
function tellHooks(objects: RecordingFixture['sim']['objects']): void {
  const spec = { type: 'webhook', webhook: { urlSecretRef: { name: 'none', namespace: 'default', key: 'url' } } };
  objects.put({ apiVersion, kind: 'AlertChannel', metadata: { name: 'hooks' }, spec });
  objects.update({ apiVersion, kind: 'CronJobMonitor', namespace: 'prod', name: 'all' }, (monitor) => ({
    ...monitor,
    spec: { alerting: { enabled: true, channelRefs: [{ name: 'hooks' }] } },
  }));
}

/** These deliveries come to be, and no other. */
async function hasDeliveries({ store }: RecordingFixture, expected: readonly string[]): Promise<void> {
  const deliveries = async (): Promise<string[]> => {
    const rows: readonly { kind: string; cause: string | null; state: string }[] = await store
      .sql('deliveries')
      .select('kind', 'cause', 'state')
      .catch(() => []);
    return rows.map(({ kind, cause, state }) => (kind === 'digest' ? `${kind} ${cause}` : `${kind} ${state}`)).sort();
  };
  for (let tries = 0; tries < 300 && (await deliveries()).length < expected.length; tries++)
    await systemClock.sleep(50);
  await systemClock.sleep(1_500);
  assert.deepEqual(await deliveries(), expected);
}
