import type { CronJobFacts, Instant } from '@cronjob-monitor/shared/domain';
import { createTranslator, type Cluster } from '@cronjob-monitor/shared/kube';
import type { Clock } from '@cronjob-monitor/shared/process';
import { listDue, listJudgedCronJobs, type Store } from '@cronjob-monitor/shared/store';

interface AbsenceProofDeps {
  readonly store: Store;
  readonly cluster: Pick<Cluster, 'findCronJob'>;
  readonly findCronJob: (uid: string) => CronJobFacts | undefined;
  /** Up to then the watches are known to have told everything. */
  readonly freshThroughAt: () => Instant | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Watches that told something so lately need no proof. */
const freshMs = 2_000;
/** CronJobs read in one go; what is left is read with the next tick, or a bookmark comes first. */
const mostAtOnce = 100;
const readsAtOnce = 8;

/**
 * In a cluster where nothing else happens a bookmark comes about once a minute, and until then it is not known that no success came. So
 * the CronJobs whose deadline has passed are read: one that shows no newer success had none until then.
 */
export class AbsenceProof {
  readonly #deps: AbsenceProofDeps;
  readonly #translator = createTranslator();
  #through: ReadonlyMap<string, Instant> = new Map();

  constructor(deps: AbsenceProofDeps) {
    this.#deps = deps;
  }

  /** Undefined: it was not read, or shows what the watch has not told yet. */
  throughAt(cronJobUid: string): Instant | undefined {
    return this.#through.get(cronJobUid);
  }

  /** Reads what is due and cannot be told yet. A read that fails proves nothing, and nothing else fails by it. */
  async look(): Promise<void> {
    const { store, clock } = this.#deps;
    const now = clock.now();
    const through = new Map<string, Instant>();
    this.#through = through;
    const freshThroughAt = this.#deps.freshThroughAt();
    if (freshThroughAt === undefined || now - freshThroughAt < freshMs) return;
    const due = await listDue(store, now, mostAtOnce, ['presence']);
    const ids = [...new Set(due.filter(({ at }) => at > freshThroughAt).map(({ cronJobId }) => cronJobId))];
    if (ids.length === 0) return;
    const asked = await listJudgedCronJobs(store, ids);
    for (let from = 0; from < asked.length; from += readsAtOnce) {
      // A few at a time: they share the connections to the API server.
      await Promise.all(asked.slice(from, from + readsAtOnce).map((row) => this.#read(row, through)));
    }
  }

  async #read(
    { uid, namespace, name }: { readonly uid: string; readonly namespace: string; readonly name: string },
    through: Map<string, Instant>,
  ): Promise<void> {
    const known = this.#deps.findCronJob(uid);
    const readAt = this.#deps.clock.now();
    const raw = await this.#deps.cluster.findCronJob({ namespace, name }, this.#deps.signal).catch(() => undefined);
    const read = raw && this.#translator.cronJob(raw);
    if (!known || read?.uid !== uid || read.suspended !== known.suspended) return;
    if ((read.lastSuccessAt ?? 0) <= (known.lastSuccessAt ?? 0)) through.set(uid, readAt);
  }
}
