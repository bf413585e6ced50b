import type { TestContext } from 'node:test';
import {
  headingOf,
  toAlertFacts,
  type AlertFinding,
  type AlertRules,
  type FindingVerdict,
  type HoldingFinding,
  type Message,
} from '@cronjob-monitor/shared/domain';
import {
  claimDeliveries,
  listDecisions,
  projectChannel,
  projectCronJob,
  projectMonitor,
  settleDelivery,
  type ClaimedDelivery,
  type Settlement,
  type Store,
} from '@cronjob-monitor/shared/store';
import { aCronJob, anAlertMessage, FakeClock, aTestStore, alertRulesTo } from '@cronjob-monitor/shared/testing';
import { createFreeze, raise, type MessageRequest, type RaisedAlert } from '../alerting/index.ts';
import { freezeClaimed, leaveToParents } from '../outbox/index.ts';

/** A database of its own with two monitors of one CronJob and two channels, at an instant that only the test moves. */
export interface AlertingFixture {
  readonly store: Store;
  readonly clock: FakeClock;
  readonly epoch: number;
  /** A finding of the first monitor about failed runs, unless the changes say otherwise. */
  readonly finding: (verdict: FindingVerdict, changes?: FindingChanges) => AlertFinding;
  readonly raise: (...findings: AlertFinding[]) => Promise<RaisedAlert[]>;
  /** A run fails, once more. */
  readonly fails: (changes?: FindingChanges & Partial<HoldingFinding>) => Promise<RaisedAlert[]>;
  /** The same is found again without a new run. */
  readonly stillHolds: (changes?: FindingChanges & Partial<HoldingFinding>) => Promise<RaisedAlert[]>;
  readonly succeeds: (changes?: FindingChanges) => Promise<RaisedAlert[]>;
  /** Claims what may go out and settles it; what went where. */
  readonly send: (settlement?: Settlement) => Promise<string[]>;
  readonly claim: () => Promise<ClaimedDelivery[]>;
  /** Settles one that was claimed. */
  readonly settle: (deliveryId: string, settlement: Settlement) => Promise<void>;
  /** Every alert by age: its state. */
  readonly states: () => Promise<string[]>;
  /** Every message by age: `channel kind state`. */
  readonly messages: () => Promise<string[]>;
  /** `action reason` of an alert's ledger; counted ones with their number. */
  readonly ledger: (alertId: string) => Promise<string[]>;
  /** worst_severity, active_alerts, held_alerts of the CronJob. */
  readonly counters: () => Promise<unknown[]>;
  readonly rows: (sql: string, bindings?: readonly unknown[]) => Promise<Record<string, unknown>[]>;
  /** What was asked to be worded, oldest first. */
  readonly requests: MessageRequest[];
}

interface FindingChanges {
  readonly type?: AlertFinding['type'];
  readonly subject?: AlertFinding['subject'];
  readonly monitor?: 'first' | 'second';
  readonly rules?: Partial<AlertRules>;
}

export async function anAlertingFixture(test: TestContext): Promise<AlertingFixture> {
  const clock = new FakeClock();
  const { store, epoch } = await aTestStore(test, { clock });
  const facts = aCronJob({ uid: '77aa21c0-0c1d-4a8e-9b37-51f0a7c3d9e2', name: 'nightly' });
  const cronJobId = (await store.fenced(epoch, (tx) => projectCronJob(tx, { facts, seenAt: clock.now() }))).id;
  const monitors = {
    first: await aMonitor(store, epoch, 'backups'),
    second: await aMonitor(store, epoch, 'platform'),
  };
  for (const name of ['team-chat', 'on-call']) await aChannel(store, epoch, name);
  const requests: MessageRequest[] = [];

  const fixture: AlertingFixture = {
    store,
    clock,
    epoch,
    requests,
    finding: (verdict, changes = {}) => ({
      monitor: monitors[changes.monitor ?? 'first'],
      cronJob: { id: cronJobId, uid: facts.uid, namespace: facts.namespace, name: facts.name },
      type: changes.type ?? 'jobFailed',
      subject: changes.subject,
      verdict,
      rules: { ...rules, ...changes.rules },
    }),
    raise: (...findings) => store.fenced(epoch, (tx) => raise(tx, findings, { freeze: freezeInto(requests) })),
    fails: (changes = {}) => fixture.raise(fixture.finding(aFailure(clock.now(), changes), changes)),
    stillHolds: (changes = {}) =>
      fixture.raise(fixture.finding(aFailure(clock.now(), { occurred: 0, ...changes }), changes)),
    succeeds: (changes = {}) => fixture.raise(fixture.finding({ kind: 'quiet', by: 'nightly-2' }, changes)),
    claim: () =>
      store.fenced(epoch, async (tx) => {
        await leaveToParents(tx);
        const by = { freeze: asItIs, claimedBy: roomForAll.claimedBy };
        return freezeClaimed(tx, await claimDeliveries(tx, roomForAll), by);
      }),
    settle: async (deliveryId, settlement) => {
      const request = { deliveryId, claimedBy: roomForAll.claimedBy, settlement };
      await store.fenced(epoch, (tx) => settleDelivery(tx, request));
    },
    send: async (settlement = { kind: 'delivered', httpStatus: 200 }) => {
      const sent: string[] = [];
      for (let claimed = await fixture.claim(); claimed.length > 0; claimed = await fixture.claim()) {
        for (const { id, channelName, kind } of claimed) {
          await fixture.settle(id, settlement);
          sent.push(`${channelName} ${kind}`);
        }
      }
      return sent;
    },
    states: async () =>
      (await fixture.rows('select state from alerts order by detected_at, id')).map(({ state }) => String(state)),
    messages: async () =>
      (await fixture.rows('select channel_name, kind, state from deliveries order by created_at, seq, id')).map((row) =>
        Object.values(row).join(' '),
      ),
    ledger: async (alertId) =>
      (await listDecisions(store, alertId)).map(
        ({ action, reason, times }) => `${action}${reason ? ` ${reason}` : ''}${times > 1 ? ` x${times}` : ''}`,
      ),
    counters: async () =>
      Object.values((await fixture.rows('select worst_severity, active_alerts, held_alerts from cronjobs'))[0] ?? {}),
    rows: async (sql, bindings = []) => [...store.dialect.rowsOf(await store.sql.raw(sql, bindings as never))],
  };
  return fixture;
}

const rules = alertRulesTo([], {
  alerting: {
    enabled: true,
    channelRefs: [
      { name: 'team-chat', severities: ['critical', 'warning'] },
      { name: 'on-call', severities: ['critical'] },
    ],
  },
});

const asItIs = createFreeze({ clusterName: undefined, externalUrl: undefined, findCronJob: () => undefined });

const roomForAll = {
  claimedBy: 'pod/boot',
  onlyTests: false,
  room: 64,
  roomOn: () => 64,
  fullChannels: [],
  globalLimit: { periodMs: 1_200, burst: 1_000 },
  limitOf: () => ({ maxPerHour: 1_000, burst: 1_000 }),
};

function aFailure(at: number, changes: Partial<HoldingFinding>): HoldingFinding {
  const { sinceAt, count, occurred, message, figures, context, signature, delayed, hold, awaited, fault } = changes;
  return {
    kind: 'holds',
    sinceAt: sinceAt ?? at,
    count: count ?? 1,
    occurred: occurred ?? 1,
    message: message ?? 'The run nightly-1 failed.',
    figures: figures ?? { measured: 1, limit: 1, unit: 'runs' },
    context: context ?? { jobName: 'nightly-1', exitCode: 1 },
    signature: signature ?? '1-125/Error',
    delayed: delayed ?? false,
    hold,
    awaited,
    fault,
  };
}

function freezeInto(requests: MessageRequest[]) {
  return (request: MessageRequest) => {
    requests.push(request);
    const { alert, finding, awaitsEvidence } = request;
    const isAwaited = finding.verdict.kind === 'holds' && finding.verdict.awaited !== undefined;
    const message: Message = {
      kind: request.kind,
      data: anAlertMessage({
        alert: {
          id: alert.id,
          severity: alert.severity,
          state: alert.state,
          firstNotice: request.isFirstNotice === true,
        },
        context: { pending: isAwaited || awaitsEvidence === true },
      }),
    };
    return { message, heading: headingOf(message), place: null, jobUid: toAlertFacts(alert.context).jobUid };
  };
}

async function aMonitor(store: Store, epoch: number, name: string): Promise<AlertFinding['monitor']> {
  const monitor = { uid: `monitor-${name}`, namespace: 'prod', name };
  const { id } = await store.fenced(epoch, (tx) =>
    projectMonitor(tx, {
      ...monitor,
      generation: 1,
      createdAt: 0,
      spec: {},
      phase: 'Active',
      conditions: [],
      counts: null,
      evaluatedAt: undefined,
    }),
  );
  return { ...monitor, id };
}

async function aChannel(store: Store, epoch: number, name: string): Promise<void> {
  const channel = {
    uid: `channel-${name}`,
    name,
    type: 'chat',
    generation: 1,
    spec: {},
    ready: true,
    reason: 'Validated',
    message: '',
    secretVersion: undefined,
  } as const;
  await store.fenced(epoch, (tx) => projectChannel(tx, channel, store.now()));
}
