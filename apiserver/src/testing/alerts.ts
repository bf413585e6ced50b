import { randomUUID } from 'node:crypto';
import type { Alert, AlertList } from '@cronjob-monitor/shared/contract';
import { type CronJobFacts, headingOf, type Message, hourMs } from '@cronjob-monitor/shared/domain';
import {
  findCronJob,
  findMonitor,
  insertAlerts,
  insertDelivery,
  moveAlertCounters,
  newId,
  projectChannel,
  recordTemplates,
  type AlertRecord,
  type ChannelProjection,
  type NewDelivery,
} from '@cronjob-monitor/shared/store';
import { anAlertRecord } from '@cronjob-monitor/shared/testing';
import { testNow } from './api.ts';
import type { TestFleet } from './fleet.ts';

/** An active alert of `prod/backup`, seen by the monitor `prod/dr`: both have to be there. */
export async function addAlert(fleet: TestFleet, changes: Partial<AlertRecord> = {}): Promise<AlertRecord> {
  const { namespace = 'prod', cronJobName = 'backup' } = changes;
  const cronJob = await findCronJob(fleet.store, namespace, cronJobName);
  const { monitor } = await findMonitor(fleet.store, { namespace: 'prod', name: 'dr' });
  const about = { monitorId: monitor?.id ?? 0, cronJobId: cronJob?.id ?? 0, namespace, cronJobName };
  const alert = anAlertRecord(testNow - hourMs, { ...about, ...changes });
  await fleet.store.fenced(fleet.epoch, async (tx) => {
    await insertAlerts(tx, [alert]);
    await moveAlertCounters(tx, [alert.cronJobId]);
  });
  return alert;
}

/** A chat channel that is ready. */
export async function addChannel(
  fleet: TestFleet,
  changes: Partial<ChannelProjection> = {},
): Promise<ChannelProjection> {
  const channel: ChannelProjection = {
    uid: randomUUID(),
    name: 'team-chat',
    type: 'chat',
    generation: 2,
    spec: {
      type: 'chat',
      chat: { webhookSecretRef: { name: 'chat', namespace: 'ops', key: 'url' }, defaultChannel: '#ops' },
      rateLimiting: { maxAlertsPerHour: 100, burstLimit: 10 },
      sendResolved: true,
      sendRecovered: false,
      testOnSave: false,
    },
    ready: true,
    reason: 'Validated',
    message: '',
    secretVersion: undefined,
    ...changes,
  };
  await fleet.store.fenced(fleet.epoch, (tx) => projectChannel(tx, channel, testNow));
  return channel;
}

const message: Message = {
  kind: 'test',
  data: { cluster: 'eu', channel: 'team-chat', message: 'Hello.', links: { channel: null } },
};

/** A message to a channel that is due; `row` sets columns as only the controller does. */
export async function addDelivery(
  fleet: TestFleet,
  channel: ChannelProjection,
  changes: Partial<NewDelivery> = {},
  row: Readonly<Record<string, unknown>> = {},
): Promise<NewDelivery> {
  const id = newId(testNow);
  const delivery: NewDelivery = {
    id,
    streamId: id,
    seq: 1,
    alertId: undefined,
    channel: { uid: channel.uid, name: channel.name },
    kind: 'firing',
    severity: 'warning',
    state: 'ready',
    dedupKey: id,
    notifyNo: 1,
    nextAt: testNow,
    createdAt: testNow,
    expiresAt: testNow + 24 * hourMs,
    payload: { message, heading: headingOf(message), place: null },
    ...changes,
  };
  const { store, epoch } = fleet;
  await store.fenced(epoch, (tx) => insertDelivery(tx, delivery));
  if (Object.keys(row).length > 0) {
    await store
      .sql('deliveries')
      .where({ id: store.dialect.id16(delivery.id) })
      .update(row);
  }
  return delivery;
}

/** Of the template of a killed run. */
export const templateHash = 'a1b2c3d4e5f60718a1b2c3d4e5f60718';

/** A weekly backup under a monitor, whose last run was killed at its memory limit in three attempts an hour ago. */
export async function addKilledBackup(fleet: TestFleet): Promise<CronJobFacts> {
  const backup = await fleet.addCronJob({ name: 'backup', schedule: '0 2 * * 0' });
  await fleet.addMonitor({ spec: {} }, [backup]);
  const container = { name: 'dump', image: 'dump:1', resources: { limits: { memory: '512Mi' } } };
  const body = { template: { spec: { containers: [container] } } };
  await fleet.store.fenced(fleet.epoch, (tx) =>
    recordTemplates(tx, [{ cronJobUid: backup.uid, hash: templateHash, body }]),
  );
  const killed = { status: 'failed', exitCode: 137, reason: 'OOMKilled', attempts: 3, templateHash } as const;
  await fleet.addRuns(backup, { ...killed, createdAt: testNow - hourMs, jobName: 'backup-1' });
  return backup;
}

/** The open alerts, those that wait or are held back too. */
export async function alertsOf(fleet: TestFleet): Promise<readonly Alert[]> {
  return ((await fleet.ask('/api/v1/alerts?state=active,pending,suppressed')).json() as AlertList).items;
}
