import type { Ref } from '@cronjob-monitor/shared/contract';
import {
  disappeared,
  expectedUid,
  madeAnewWithinMs,
  parseResourceDuration,
  toNamedRef,
  toHolding,
  type AlertFinding,
  type FindingVerdict,
  type Instant,
  type Verdict,
} from '@cronjob-monitor/shared/domain';
import type { ExpectsSpec } from '@cronjob-monitor/shared/kube';
import {
  listDisappearances,
  listKnownMonitors,
  listLastOfNames,
  listSeenAndGone,
  rowsOfExpected,
  type AlertRecord,
  type KnownMonitor,
  type LastOfName,
  type Store,
} from '@cronjob-monitor/shared/store';
import { type FreezeMessage, raise, type RaisedAlert } from '../alerting/index.ts';
import type { ClusterCaches, MonitorSeen, Selection } from '../selection/index.ts';
import { noRules } from './closings.ts';
import { rulesOf } from './monitor-rules.ts';

interface ExpectationsDeps {
  readonly store: Store;
  readonly epoch: number;
  readonly caches: Pick<ClusterCaches, 'cronJobs' | 'monitors' | 'namespaces'>;
  readonly selection: Pick<Selection, 'monitorsOf' | 'refusalOf' | 'effectiveOf' | 'findNamed' | 'remember'>;
  readonly defaultZone: string;
  /** The watches have told everything up to then: an absence after it is not known. */
  readonly freshThroughAt: () => Instant | undefined;
  readonly isDelayed: (sinceAt: Instant) => boolean;
  readonly freeze: FreezeMessage;
  readonly onRaised: (raised: readonly RaisedAlert[]) => void;
  /** Told when the answer for a monitor has changed. */
  readonly onChanged: (monitorUid: string) => void;
}

/** How the expectations of a monitor are met; names as `namespace/name`. */
interface ExpectationsMet {
  readonly missing: readonly string[];
  readonly namespaceGone: readonly string[];
  /** Names in namespaces that the monitor may not look into: the service neither looks there nor tells of them. */
  readonly outOfReach: readonly string[];
}

/** Judges, for all monitors at once, whether the CronJobs are there that they expect. */
export interface Expectations {
  readonly judge: () => Promise<void>;
  /** The last answer; undefined: there was none yet. */
  readonly of: (monitorUid: string) => ExpectationsMet | undefined;
}

/** One name that one monitor expects and for which it selects no CronJob. */
interface Asked extends Ref {
  readonly monitor: MonitorSeen;
  readonly row: KnownMonitor;
  readonly expects: ExpectsSpec;
  readonly open: AlertRecord | undefined;
}

interface Answer {
  readonly asked: Asked;
  readonly lastSuccessAt: Instant | undefined;
  readonly verdict: Verdict;
}

/** A release may delete a CronJob before it writes the monitor that expects it: a deletion so shortly before is told too. */
const seenBeforeMs = madeAnewWithinMs;

export function createExpectations(deps: ExpectationsDeps): Expectations {
  return new JudgedExpectations(deps);
}

class JudgedExpectations implements Expectations {
  readonly #deps: ExpectationsDeps;
  readonly #met = new Map<string, ExpectationsMet>();

  constructor(deps: ExpectationsDeps) {
    this.#deps = deps;
  }

  of(uid: string): ExpectationsMet | undefined {
    return this.#met.get(uid);
  }

  async judge(): Promise<void> {
    const live = await listDisappearances(this.#deps.store);
    const expecting = [...this.#deps.caches.monitors.values()].filter(
      ({ decoded }) => decoded.ok && decoded.spec.expects,
    );
    if (expecting.length === 0 && live.length === 0) return this.#note([], [], []);
    const rows = await listKnownMonitors(this.#deps.store);
    const named = await this.#namesAsked(expecting, rows, live);
    const last = new Map((await listLastOfNames(this.#deps.store, named)).map((one) => [keyOf(one), one]));
    // The annotations of deleted CronJobs stay in force, also in a process that never saw those CronJobs.
    this.#deps.selection.remember(
      [...last.values()].map(({ namespace, name, own: { cronJob, timeZone } }) => {
        const isAnnotated = Object.keys(cronJob.annotations).length > 0;
        const { annotations, labels } = cronJob;
        return { namespace, name, labels, timeZone, ...(isAnnotated && { annotations }) };
      }),
    );
    const { reached: asked = [], refused = [] } = Object.groupBy(
      named.filter((one) => !this.#settingsOf(one, one.monitor)?.isIgnored),
      (one) => (this.#isInReach(one) ? 'reached' : 'refused'),
    );
    const now = this.#deps.store.now();
    const horizon = Math.min(now, this.#deps.freshThroughAt() ?? now);
    const answers = asked.map((one): Answer => {
      const known = last.get(keyOf(one));
      return { asked: one, lastSuccessAt: known?.lastSuccessAt, verdict: this.#judgeOne(one, known, horizon) };
    });
    const toFindings = (ids: ReadonlyMap<string, number>): AlertFinding[] => [
      ...answers.flatMap((answer) => this.#findingOf(answer, ids)),
      ...this.#closingsOf(live, rows, asked, now),
    ];
    const holding = answers.filter(({ verdict }) => verdict.kind === 'holds').map((answer) => answer.asked);
    if (holding.length > 0 || live.length > 0) {
      const raised = await this.#deps.store.fenced(this.#deps.epoch, async (tx) => {
        const ids = holding.length === 0 ? new Map<string, number>() : await rowsOfExpected(tx, holding, tx.now());
        return raise(tx, toFindings(ids), { freeze: this.#deps.freeze });
      });
      if (raised.length > 0) this.#deps.onRaised(raised);
    }
    this.#note(expecting, answers, refused);
  }

  /** Expected names for which the monitor selects no CronJob. */
  async #namesAsked(
    expecting: readonly MonitorSeen[],
    rows: readonly KnownMonitor[],
    live: readonly AlertRecord[],
  ): Promise<Asked[]> {
    const known = expecting.flatMap((monitor) => {
      // A monitor without a row is judged as soon as its row is written.
      const row = rows.find((one) => one.deletedAt === undefined && keyOf(one) === keyOf(monitor));
      const spec = monitor.decoded.ok ? monitor.decoded.spec : undefined;
      return row && spec?.expects ? [{ monitor, row, expects: spec.expects }] : [];
    });
    const withSeen = known.filter(({ expects }) => expects.seen);
    const gone = Map.groupBy(
      await listSeenAndGone(
        this.#deps.store,
        withSeen.map(({ row }) => row.id),
      ),
      ({ monitorId }) => monitorId,
    );
    return known.flatMap((of) => {
      const { monitor, row, expects } = of;
      const openOf = (ref: Ref): AlertRecord | undefined =>
        live.find((alert) => alert.monitorId === row.id && keyOf(refOf(alert)) === keyOf(ref));
      const named = expects.names.map((text) => toNamedRef(text, monitor.namespace));
      const seen = (gone.get(row.id) ?? []).filter(
        (ref) => !this.#isThere(ref) && (openOf(ref) !== undefined || ref.deletedAt >= this.#seenFrom(monitor, ref)),
      );
      const except = new Set(expects.except.map((text) => keyOf(toNamedRef(text, monitor.namespace))));
      const names = new Map(
        [...named, ...seen].map(({ namespace, name }) => [`${namespace}/${name}`, { namespace, name }]),
      );
      return [...names]
        .filter(([key, ref]) => !except.has(key) && !this.#isSelected(ref, monitor))
        .map(([, ref]): Asked => ({ ...of, ...ref, open: openOf(ref) }));
    });
  }

  #judgeOne(asked: Asked, last: LastOfName | undefined, now: Instant): Verdict {
    const { monitor, row, expects, open } = asked;
    const there = this.#deps.caches.cronJobs.findByName(asked.namespace, asked.name);
    const graceMs = parseResourceDuration(expects.grace) ?? 0;
    return disappeared(
      { graceMs },
      {
        isSelected: false,
        isNamespaceGone: this.#isNamespaceGone(asked),
        expectedSinceAt: this.#expectedSince(asked),
        deselectedAt: there && (last?.removedAt.get(row.id) ?? there.createdAt),
        last:
          last?.deletedAt === undefined
            ? undefined
            : {
                seenAt: last.seenAt,
                deletedAt: last.deletedAt,
                deletedFromAt: last.deletedFromAt,
                writer: last.writer,
              },
        isTold: open !== undefined && open.sinceAt <= now && monitor.decoded.ok,
      },
      now,
    );
  }

  #findingOf({ asked, lastSuccessAt, verdict }: Answer, ids: ReadonlyMap<string, number>): AlertFinding[] {
    const { row, monitor, open } = asked;
    const zone = this.#deps.defaultZone;
    const id = ids.get(keyOf(asked)) ?? open?.cronJobId;
    const found = this.#toFindingVerdict(asked, verdict, zone);
    const settings = this.#settingsOf(asked, monitor);
    if (id === undefined || found === undefined || !settings) return [];
    return [
      {
        monitor: { id: row.id, uid: row.id16, namespace: row.namespace, name: row.name },
        cronJob: { id, uid: expectedUid(asked), namespace: asked.namespace, name: asked.name, lastSuccessAt },
        type: 'absent',
        subject: 'disappeared',
        verdict: found,
        rules: rulesOf(settings, zone).alerts,
      },
    ];
  }

  #toFindingVerdict({ open, expects }: Asked, verdict: Verdict, timeZone: string): FindingVerdict | undefined {
    if (verdict.kind === 'holds') {
      const worded = toHolding('absent', 'disappeared', verdict, { timeZone });
      const since = open?.sinceAt ?? worded.sinceAt;
      const beganAt = since + (parseResourceDuration(expects.grace) ?? 0);
      return { kind: 'holds', ...worded, sinceAt: since, occurred: 0, delayed: this.#deps.isDelayed(since), beganAt };
    }
    if (open === undefined || verdict.kind === 'undecided') return undefined;
    return verdict.reason === 'namespaceDeleted' ? { kind: 'gone', cause: 'namespaceDeleted' } : { kind: 'quiet' };
  }

  /** Ends alerts about names that came back, that no monitor expects any more, or whose monitor was deleted. */
  #closingsOf(
    live: readonly AlertRecord[],
    rows: readonly KnownMonitor[],
    asked: readonly Asked[],
    now: Instant,
  ): AlertFinding[] {
    const handled = new Set(asked.flatMap(({ open }) => (open ? [open.id] : [])));
    return live.flatMap((alert): AlertFinding[] => {
      const row = rows.find(({ id }) => id === alert.monitorId);
      const verdict = row && !handled.has(alert.id) ? this.#endOf(refOf(alert), row, now) : undefined;
      if (row === undefined || verdict === undefined) return [];
      const ref = refOf(alert);
      const monitor = { id: row.id, uid: row.id16, namespace: row.namespace, name: row.name };
      const lastSuccessAt = this.#deps.caches.cronJobs.findByName(ref.namespace, ref.name)?.lastSuccessAt;
      const cronJob = { id: alert.cronJobId, uid: expectedUid(ref), ...ref, lastSuccessAt };
      return [{ monitor, cronJob, type: 'absent', subject: 'disappeared', verdict, rules: noRules }];
    });
  }

  #endOf(ref: Ref, row: KnownMonitor, now: Instant): FindingVerdict | undefined {
    if (row.deletedAt !== undefined)
      return now < row.deletedAt + madeAnewWithinMs ? undefined : { kind: 'gone', cause: 'monitorDeleted' };
    const monitor = this.#deps.caches.monitors.findByName(row.namespace, row.name);
    // An unreadable monitor decides nothing; one that the cache lacks is about to be marked deleted.
    if (!monitor?.decoded.ok) return undefined;
    const { expects } = monitor.decoded.spec;
    const isLetGo = expects?.except.some((text) => keyOf(toNamedRef(text, monitor.namespace)) === keyOf(ref)) ?? true;
    return !isLetGo && this.#isSelected(ref, monitor) ? { kind: 'quiet' } : { kind: 'gone', cause: 'notConfigured' };
  }

  /** Keeps the answers for the condition ExpectationsMet, and names the monitors whose answer changed. */
  #note(expecting: readonly MonitorSeen[], answers: readonly Answer[], refused: readonly Asked[]): void {
    const before = new Map([...this.#met].map(([uid, one]) => [uid, JSON.stringify(one)]));
    this.#met.clear();
    for (const { uid } of expecting) {
      const own = answers.filter(({ asked }) => asked.monitor.uid === uid);
      const namesOf = (fits: (verdict: Verdict) => boolean): string[] =>
        own.filter(({ verdict }) => fits(verdict)).map(({ asked }) => keyOf(asked));
      this.#met.set(uid, {
        missing: namesOf(({ kind }) => kind === 'holds'),
        namespaceGone: namesOf((verdict) => verdict.kind === 'quiet' && verdict.reason === 'namespaceDeleted'),
        outOfReach: refused.filter(({ monitor }) => monitor.uid === uid).map(keyOf),
      });
    }
    for (const uid of new Set([...before.keys(), ...this.#met.keys()]))
      if (before.get(uid) !== JSON.stringify(this.#met.get(uid))) this.#deps.onChanged(uid);
  }

  /** A namespace that did not consent is out of reach, whatever it holds; one that was deleted is in reach, and its CronJobs are missing. */
  #isInReach({ monitor, namespace }: Asked): boolean {
    const refusal = this.#deps.selection.refusalOf(monitor, namespace);
    return refusal === undefined || refusal === 'NamespaceNotFound';
  }

  #isThere({ namespace, name }: Ref): boolean {
    return this.#deps.caches.cronJobs.findByName(namespace, name) !== undefined;
  }

  #isSelected({ namespace, name }: Ref, { uid }: MonitorSeen): boolean {
    const cronJob = this.#deps.caches.cronJobs.findByName(namespace, name);
    return cronJob !== undefined && this.#deps.selection.monitorsOf(cronJob).some((monitor) => monitor.uid === uid);
  }

  /** The settings in force, by the annotations that the CronJob had when it was last seen. */
  #settingsOf({ namespace, name }: Ref, monitor: MonitorSeen): ReturnType<Selection['effectiveOf']> {
    return this.#deps.selection.effectiveOf(monitor, this.#deps.selection.findNamed(namespace, name));
  }

  /** A monitor's own namespace is there, also where the service may not list namespaces. */
  #isNamespaceGone({ namespace, monitor }: Asked): boolean {
    const seen = this.#deps.caches.namespaces.findByName('', namespace);
    return seen === undefined ? namespace !== monitor.namespace : seen.deletingAt !== undefined;
  }

  #expectedSince({ namespace, monitor }: Asked): Instant {
    const namespaceAt = this.#deps.caches.namespaces.findByName('', namespace)?.createdAt ?? -Infinity;
    return Math.max(monitor.createdAt, monitor.expectsWrittenAt ?? -Infinity, namespaceAt);
  }

  /** Deletions count since then: not those before the monitor was made, nor those that a deleted and remade namespace took with it. */
  #seenFrom(monitor: MonitorSeen, { namespace }: Ref): Instant {
    const namespaceAt = this.#deps.caches.namespaces.findByName('', namespace)?.createdAt ?? -Infinity;
    return Math.max(
      monitor.createdAt - seenBeforeMs,
      (monitor.expectsWrittenAt ?? -Infinity) - seenBeforeMs,
      namespaceAt,
    );
  }
}

const keyOf = ({ namespace, name }: Ref): string => `${namespace}/${name}`;
const refOf = ({ namespace, cronJobName: name }: AlertRecord): Ref => ({ namespace, name });
