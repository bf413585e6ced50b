import { randomUUID } from 'node:crypto';
import { headingOf, type Execution, type Message, minuteMs, hourMs, dayMs } from '@cronjob-monitor/shared/domain';
import { systemClock } from '@cronjob-monitor/shared/process';
import {
  describeSelf,
  findCronJob,
  findMonitor,
  insertAlerts,
  insertDelivery,
  migrate,
  moveAlertCounters,
  newId,
  openStore,
  projectChannel,
  projectCronJob,
  projectMonitor,
  putEvidence,
  putSilence,
  recordDecisions,
  recordRuns,
  setTargets,
  takeEpoch,
  type AlertRecord,
  type Store,
  type StoreSettings,
} from '@cronjob-monitor/shared/store';
import { aCronJob, anAlertRecord, aRecordedRun, RecordingLogger } from '@cronjob-monitor/shared/testing';

/** Ids of what was written. */
export interface Seed {
  readonly epoch: number;
  readonly alert: string;
  readonly endedAlert: string;
  readonly silence: string;
  readonly endedSilence: string;
  readonly dead: string;
  readonly sent: string;
}

/** The store of a cluster of this name whose controller has led, with the small fleet in it. */
export async function seedCluster(settings: StoreSettings, name: string): Promise<Seed & { readonly store: Store }> {
  const store = openStore(settings, { clock: systemClock, log: new RecordingLogger() });
  await migrate(store, { version: 'test' });
  const seed = await seedFleet(store);
  await store.fenced(seed.epoch, (tx) => describeSelf(tx, { name, defaultTimeZone: 'UTC' }));
  return { ...seed, store };
}

/** A small fleet as a controller leaves it: a CronJob that failed, one that never ran, a monitor, a channel, alerts, messages, silences. */
export async function seedFleet(store: Store): Promise<Seed> {
  const epoch = await takeEpoch(store, 'controller-0_x');
  const now = store.now();
  const [backup, etl] = ['backup', 'etl'].map((name) =>
    aCronJob({ uid: randomUUID(), name, namespace: 'prod', createdAt: now - 90 * dayMs }),
  );
  if (!backup || !etl) throw new Error('there are two of them');
  const monitor = {
    uid: randomUUID(),
    namespace: 'prod',
    name: 'dr',
    generation: 4,
    createdAt: now - 90 * dayMs,
    spec: {
      sla: { minSuccessRate: 95, maxDuration: '2h' },
      alerting: { channelRefs: [{ name: 'team-chat', severities: [] }] },
    },
    phase: 'Active',
    conditions: [],
    counts: {},
    evaluatedAt: now - 5_000,
  } as const;
  const channel = { uid: randomUUID(), name: 'team-chat' };
  await store.fenced(epoch, async (tx) => {
    for (const facts of [backup, etl]) await projectCronJob(tx, { facts, seenAt: now });
    await projectMonitor(tx, monitor);
    const targets = [backup, etl].map(({ uid }) => ({ cronJobUid: uid, leading: true }));
    await setTargets(tx, monitor.uid, targets, now);
    await projectChannel(
      tx,
      {
        ...channel,
        type: 'chat',
        generation: 2,
        spec: { chat: { webhookSecretRef: { name: 'chat', namespace: 'ops', key: 'url' }, defaultChannel: '#ops' } },
        ready: true,
        reason: 'Validated',
        message: '',
        secretVersion: undefined,
      },
      now,
    );
  });
  await seedRuns(store, epoch, backup);
  const alerts = await seedAlerts(store, epoch, { now });
  const deliveries = await seedDeliveries(store, epoch, { now, channel, alert: alerts.alert });
  return { epoch, ...alerts, ...deliveries, ...(await seedSilences(store, now)) };
}

async function seedRuns(store: Store, epoch: number, cronJob: ReturnType<typeof aCronJob>): Promise<void> {
  const now = store.now();
  const aRun = (hoursAgo: number, changes: Partial<Execution> = {}): Execution => {
    const createdAt = now - hoursAgo * hourMs;
    const usual = { jobName: `backup-${hoursAgo}`, startedAt: createdAt + 1_000, finishedAt: createdAt + 61_000 };
    return aRecordedRun(cronJob, createdAt, { ...usual, templateHash: 'template-1', ...changes });
  };
  const failed = aRun(1, { status: 'failed', exitCode: 137, reason: 'OOMKilled', jobReason: 'BackoffLimitExceeded' });
  await recordRuns(store, epoch, [aRun(3), aRun(2, { trigger: 'manual', scheduledAt: undefined }), failed]);
  await putEvidence(store, epoch, [
    {
      owner: failed.jobUid,
      kind: 'logs',
      name: 'backup-1-x/main',
      cronJobUid: cronJob.uid,
      createdAt: failed.createdAt,
      capturedAt: now,
      body: 'at work\nKilled\n',
      truncated: false,
      unavailable: undefined,
    },
  ]);
}

async function seedAlerts(
  store: Store,
  epoch: number,
  { now }: { readonly now: number },
): Promise<Pick<Seed, 'alert' | 'endedAlert'>> {
  const cronJobId = (await findCronJob(store, 'prod', 'backup'))?.id ?? 0;
  const monitorId = (await findMonitor(store, { namespace: 'prod', name: 'dr' })).monitor?.id ?? 0;
  const anAlert = (changes: Partial<AlertRecord> = {}): AlertRecord =>
    anAlertRecord(now - hourMs, { monitorId, cronJobId, severity: 'critical', severitySource: 'override', ...changes });
  const [open, ended] = [
    anAlert(),
    anAlert({ type: 'jobStuck', subject: 'notStarted', state: 'resolved', endedAt: now }),
  ];
  await store.fenced(epoch, async (tx) => {
    await insertAlerts(tx, [open]);
    await insertAlerts(tx, [ended]);
    await moveAlertCounters(tx, [cronJobId]);
    await recordDecisions(tx, [{ alertId: open.id, cronJobId, action: 'detected', detail: 'Job backup-1 failed' }]);
  });
  return { alert: open.id, endedAlert: ended.id };
}

async function seedDeliveries(
  store: Store,
  epoch: number,
  of: { readonly now: number; readonly channel: { uid: string; name: string }; readonly alert: string },
): Promise<Pick<Seed, 'dead' | 'sent'>> {
  const message: Message = {
    kind: 'test',
    data: { cluster: 'eu', channel: 'team-chat', message: 'Hello.', links: { channel: null } },
  };
  const [dead, sent] = [newId(of.now), newId(of.now)];
  await store.fenced(epoch, async (tx) => {
    for (const id of [dead, sent]) {
      await insertDelivery(tx, {
        id,
        streamId: id,
        seq: 1,
        alertId: of.alert,
        channel: of.channel,
        kind: 'firing',
        severity: 'critical',
        state: 'ready',
        dedupKey: id,
        notifyNo: 1,
        nextAt: of.now,
        createdAt: of.now,
        expiresAt: of.now + dayMs,
        payload: { message, heading: headingOf(message), place: null },
      });
    }
  });
  const set = (id: string, row: object): Promise<unknown> =>
    store
      .sql('deliveries')
      .where({ id: store.dialect.id16(id) })
      .update({ next_at: null, attempts: 1, ended_at: of.now, ...row });
  const error = { category: 'rejected', message: 'It answered 422', httpStatus: 422, at: of.now };
  await set(dead, { state: 'dead', last_error: JSON.stringify(error), http_status: 422 });
  await set(sent, { state: 'sent', first_sent_at: of.now, http_status: 200 });
  return { dead, sent };
}

async function seedSilences(store: Store, now: number): Promise<Pick<Seed, 'silence' | 'endedSilence'>> {
  const none = { namespaces: [], cronjobs: [], types: [], severities: [], monitor: null, alertId: null, all: false };
  const [silence, endedSilence] = [newId(now), newId(now)];
  const common = { untilResolved: false, comment: 'storage move', createdBy: 'ana', createdAt: now, updatedAt: now };
  await store.transaction(async (tx) => {
    const startsAt = now - hourMs;
    const matcher = { ...none, cronjobs: ['backup'] };
    await putSilence(tx, { ...common, id: silence, matcher, startsAt, endsAt: now + dayMs, endedAt: undefined });
    await putSilence(tx, {
      ...common,
      id: endedSilence,
      matcher,
      startsAt,
      endsAt: now - minuteMs,
      endedAt: undefined,
    });
  });
  return { silence, endedSilence };
}
