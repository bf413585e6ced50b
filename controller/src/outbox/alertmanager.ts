import { createHash } from 'node:crypto';
import type { Ref } from '@cronjob-monitor/shared/contract';
import {
  toAlertFacts,
  toMessageEvidence,
  type AlertRecord,
  type Evidence,
  alertsOf,
  heldOpenMs,
  identityOf,
  present,
  type AlertmanagerAlert,
} from '@cronjob-monitor/shared/domain';
import type { ChannelSpec } from '@cronjob-monitor/shared/kube';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import {
  FencedError,
  listEvidenceOf,
  listToldThere,
  lockCronJobs,
  recordChanges,
  recordDecisions,
  updateMutedThere,
  type AlertToldThere,
  type MutedThere,
  type Store,
} from '@cronjob-monitor/shared/store';
import { alertmanagerPeersOf, postAlerts, readMutes, type Mute, type Peers, type SendDeps } from '../channels/index.ts';
import type { DeliveryMetrics } from '../metrics/index.ts';
import type { Dispatcher, DispatcherDeps } from './dispatcher-deps.ts';
import type { FreezeMessage } from '../alerting/index.ts';
import type { SecretReader } from './secret-reader.ts';

interface AlertmanagerUpkeepDeps {
  readonly store: Store;
  readonly epoch: number;
  readonly channels: {
    values(): Iterable<{
      readonly uid: string;
      readonly name: string;
      readonly decoded: { readonly spec: ChannelSpec | undefined };
    }>;
  };
  readonly secrets: SecretReader;
  readonly sending: SendDeps;
  readonly freeze: FreezeMessage;
  readonly ownerOf: (cronJob: Ref) => string | undefined;
  /** The label that tells our alerts from those of others. */
  readonly source: string;
  readonly turn: Dispatcher['turn'];
  readonly metrics: Pick<DeliveryMetrics, 'peers'>;
  readonly database: DispatcherDeps['database'];
  readonly onFenced: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The upkeep sends all alerts again, and reads the mutes of Alertmanager, this often. */
const everyMs = 60_000;
/** Alerts of one request. */
const mostAtOnce = 100;

type AlertmanagerChannel = {
  readonly uid: string;
  readonly name: string;
  readonly spec: Extract<ChannelSpec, { type: 'webhook' }>;
};

/**
 * Keeps Alertmanagers in line with the alerts of the service. Alertmanager forgets an alert that it does not get again. So the upkeep sends it,
 * each minute, every active alert that it was told of and every one that ended within the last 15 minutes, and reads which of them it mutes.
 * All of that comes from the database, so a new leader goes on where the last one stopped. Sends take turns with the messages of the channel,
 * so none of them overtakes a closing.
 */
export class AlertmanagerUpkeep {
  readonly #deps: AlertmanagerUpkeepDeps;
  readonly #texts = new AlertTexts();
  /** The severities and owners that alerts were sent again with, where they differ from the first message: by channel and alert. */
  readonly #saidWith = new Map<string, AlertToldThere['toldWith']>();
  /** Whether each peer took the last request, by the name of the channel. */
  readonly #answers = new Map<string, Answers>();
  /** Channels that get a look before their minute is over. */
  readonly #early = new Set<string>();
  #wake: () => void = () => {};

  constructor(deps: AlertmanagerUpkeepDeps) {
    this.#deps = deps;
  }

  /** A message left out something that Alertmanager should have, so the upkeep sends the alerts of the channel again now. */
  soon(channelUid: string): void {
    this.#early.add(channelUid);
    this.#wake();
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    let dueMs = clock.monotonicMs();
    while (!signal.aborted) {
      const isDue = clock.monotonicMs() >= dueMs;
      if (isDue) dueMs = clock.monotonicMs() + everyMs;
      const early = new Set(this.#early);
      this.#early.clear();
      const channels = this.#channels();
      for (const channel of channels) if (isDue || early.has(channel.uid)) await this.#attempt(channel, signal);
      this.#measure(channels);
      if (!signal.aborted) await this.#rest(Math.max(1, dueMs - clock.monotonicMs()), signal);
    }
  }

  #channels(): AlertmanagerChannel[] {
    return [...this.#deps.channels.values()].flatMap(({ uid, name, decoded: { spec } }) =>
      spec?.type === 'webhook' && spec.webhook.format === 'alertmanager' ? [{ uid, name, spec }] : [],
    );
  }

  #measure(channels: readonly AlertmanagerChannel[]): void {
    const names = new Set(channels.map(({ name }) => name));
    for (const name of this.#answers.keys()) if (!names.has(name)) this.#answers.delete(name);
    this.#deps.metrics.peers(this.#answers);
  }

  async #rest(ms: number, signal: AbortSignal): Promise<void> {
    if (this.#early.size > 0) return;
    const woken = new AbortController();
    this.#wake = () => woken.abort(new Error('there is something to tell'));
    await this.#deps.clock.sleep(ms, AbortSignal.any([woken.signal, signal])).catch(() => {}); // It ends, or is woken.
  }

  async #attempt(channel: AlertmanagerChannel, signal: AbortSignal): Promise<void> {
    const { database, logger, onFenced } = this.#deps;
    try {
      await this.#look(channel, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof FencedError) onFenced();
      else if (database.isAway(error)) await database.whenBack(error, signal);
      else logger.error('an Alertmanager could not be told what is so', { channel: channel.name, error });
    }
  }

  async #look(channel: AlertmanagerChannel, signal: AbortSignal): Promise<void> {
    const { secrets, sending, source } = this.#deps;
    const read = await secrets.read(channel.spec, signal);
    // The conditions of the channel already say what is wrong with its Secrets.
    const peers = read.kind === 'read' ? alertmanagerPeersOf(channel.spec, read.secrets) : undefined;
    if (peers === undefined) return;
    const told = await this.#deps.turn(channel.uid, () => this.#sayAgain(channel, peers, signal));
    this.#answers.set(channel.name, told.answers);
    const mutes = channel.spec.webhook.readSilences
      ? await readMutes(peers, source, { deps: sending, signal })
      : new Map<string, Mute>();
    if (mutes !== undefined) await this.#note(channel, told.alerts, mutes);
  }

  /** Sends every alert again, under the epoch and in turn with the messages of the channel. */
  async #sayAgain(
    channel: AlertmanagerChannel,
    peers: Peers,
    signal: AbortSignal,
  ): Promise<{ readonly alerts: readonly Said[]; readonly answers: Answers }> {
    const { store, epoch } = this.#deps;
    const endedAfter = store.now() - heldOpenMs;
    const told = await store.fenced(epoch, (tx) => listToldThere(tx, { channelUid: channel.uid, endedAfter }));
    const keys = new Set(told.map(({ alert }) => `${channel.uid} ${alert.id}`));
    for (const key of this.#saidWith.keys())
      if (key.startsWith(channel.uid) && !keys.has(key)) this.#saidWith.delete(key);
    const alerts = await this.#word(told);
    const all = alerts.flatMap(({ told: one, alert }) => [alert, ...this.#endedSets(channel, one, alert)]);
    const answers: Answers = new Map();
    // Without an alert one empty request still shows which peers are up.
    for (let from = 0; from === 0 || from < all.length; from += mostAtOnce) {
      signal.throwIfAborted();
      await this.#post(peers, all.slice(from, from + mostAtOnce), answers, signal);
    }
    return { alerts, answers };
  }

  async #post(
    peers: Peers,
    alerts: readonly AlertmanagerAlert[],
    answers: Answers,
    signal: AbortSignal,
  ): Promise<void> {
    const { sending: deps, logger } = this.#deps;
    const send = (some: readonly AlertmanagerAlert[]): ReturnType<typeof postAlerts> =>
      postAlerts(peers, JSON.stringify(some), { deps, form: 'reduced', signal });
    const together = await send(alerts);
    for (const { peer, outcome } of together)
      answers.set(peer, answers.get(peer) !== false && (outcome.kind === 'delivered' || outcome.next === 'dead'));
    const isRefused = together.some(({ outcome }) => outcome.kind === 'failed' && outcome.next === 'dead');
    if (!isRefused || alerts.length === 0) return;
    // A peer refuses the whole request for one alert, so each alert goes alone, and a refused one with its labels and summary only.
    for (const alert of alerts) {
      const { labels, annotations, startsAt, endsAt } = alert;
      const least = { labels, annotations: { summary: annotations['summary'] ?? '' }, startsAt, endsAt };
      const isTaken = async (one: AlertmanagerAlert): Promise<boolean> =>
        (await send([one])).every(({ outcome }) => outcome.kind === 'delivered' || outcome.next !== 'dead');
      if ((await isTaken(alert)) || (await isTaken(least))) continue;
      logger.warn('an Alertmanager refuses an alert', { alertname: labels['alertname'], cronjob: labels['cronjob'] });
    }
  }

  /** Words each alert as it is now, with the evidence of its run that came after its message. */
  async #word(told: readonly AlertToldThere[]): Promise<Said[]> {
    const { store, freeze, ownerOf, source } = this.#deps;
    const now = store.now();
    const unknown = told.filter((one) => !this.#texts.of(one.alert));
    const ids = unknown.map(({ alert }) => alert.id);
    const evidence: ReadonlyMap<string, readonly Evidence[]> = await listEvidenceOf(store, ids, [
      'logs',
      'events',
      'attempts',
    ]);
    for (const { alert, monitor, cronJob } of unknown) {
      const { place } = toAlertFacts(alert.context);
      const { message, owner } = freeze({
        kind: alert.endedAt === undefined ? 'firing' : 'closing',
        alert,
        finding: { monitor, cronJob, verdict: { kind: 'quiet' } },
        notification: alert.notifyNo,
        held: undefined,
        evidence: toMessageEvidence(evidence.get(alert.id) ?? [], place?.container),
        at: now,
      });
      this.#texts.put(alert, alertsOf({ message, owner, source, createdAt: now }, 'full', now)[0]);
    }
    this.#texts.keepOnly(told.map(({ alert }) => alert.id));
    return told.flatMap((one) => {
      const text = this.#texts.of(one.alert);
      if (text === undefined) return [];
      if (one.alert.endedAt !== undefined) return [{ told: one, alert: text }];
      const labels = present({ ...text.labels, owner: ownerOf(one.cronJob) });
      return [{ told: one, alert: { ...text, labels, endsAt: new Date(now + heldOpenMs).toISOString() } }];
    });
  }

  /** Ends the sets of labels that the alert had before its severity or its owner changed. */
  #endedSets(
    { uid }: AlertmanagerChannel,
    { alert, toldWith }: AlertToldThere,
    said: AlertmanagerAlert,
  ): AlertmanagerAlert[] {
    const now = this.#deps.store.now();
    const key = `${uid} ${alert.id}`;
    const latest = { severity: alert.severity, owner: said.labels['owner'] ?? null, at: now };
    const saidWith = this.#saidWith.get(key) ?? [];
    const sets = [...toldWith, ...saidWith]
      .sort((a, b) => a.at - b.at)
      .map(({ severity, owner = latest.owner, at }) => ({ labels: present({ ...said.labels, severity, owner }), at }));
    const current = identityOf(said.labels);
    const last = sets.at(-1);
    if (last && identityOf(last.labels) !== current) {
      this.#saidWith.set(key, [...saidWith, latest]);
      sets.push({ labels: said.labels, at: now });
    }
    const ends = new Map<string, AlertmanagerAlert>();
    for (const [index, { labels }] of sets.entries()) {
      const is = identityOf(labels);
      const at = Math.max(sets[index + 1]?.at ?? now, Date.parse(said.startsAt));
      if (is !== current) ends.set(is, { ...said, labels, endsAt: new Date(at).toISOString() });
    }
    return [...ends.values()].filter(({ endsAt }) => Date.parse(endsAt) > now - heldOpenMs);
  }

  /** Writes to alerts and timelines which mutes in Alertmanager began or ended. */
  async #note(channel: AlertmanagerChannel, alerts: readonly Said[], mutes: ReadonlyMap<string, Mute>): Promise<void> {
    const { store, epoch } = this.#deps;
    const moved = alerts.flatMap(({ told, alert }) => {
      const mute = told.alert.endedAt === undefined ? mutes.get(identityOf(alert.labels)) : undefined;
      const after = mute && {
        says: muteInWords(mute),
        untilAt: (mute.by === 'silence' ? mute.untilAt : undefined) ?? null,
      };
      const before = told.mutedThere[channel.name];
      return before?.says === after?.says && before?.untilAt === after?.untilAt ? [] : [{ told, mute, after }];
    });
    if (moved.length === 0) return;
    await store.fenced(epoch, async (tx) => {
      await lockCronJobs(tx, [...new Set(moved.map(({ told }) => told.cronJob.id))]);
      for (const { told, after } of moved) {
        const { [channel.name]: _, ...others } = told.mutedThere;
        const muted: MutedThere = after === undefined ? others : { ...others, [channel.name]: after };
        await updateMutedThere(tx, told.alert.id, muted);
      }
      await recordDecisions(
        tx,
        moved.map(({ told: { alert, cronJob }, mute, after }) => ({
          action: mute === undefined ? ('unmutedThere' as const) : ('mutedThere' as const),
          reason: mute?.by,
          untilAt: after?.untilAt ?? undefined,
          byWhom: mute?.by === 'silence' ? mute.author : undefined,
          detail: after?.says,
          alertId: alert.id,
          cronJobId: cronJob.id,
          channelUid: channel.uid,
        })),
      );
      await recordChanges(
        tx,
        moved.map(({ told: { alert, monitor, cronJob } }) => ({
          kind: 'alert' as const,
          namespace: alert.namespace,
          data: {
            id: alert.id,
            state: alert.state,
            type: alert.type,
            subject: alert.subject ?? null,
            severity: alert.severity,
            cronjob: { namespace: cronJob.namespace, name: cronJob.name },
            monitor: { namespace: monitor.namespace, name: monitor.name },
          },
        })),
      );
    });
  }
}

/** An alert as Alertmanager gets it again. */
interface Said {
  readonly told: AlertToldThere;
  readonly alert: AlertmanagerAlert;
}

/** Whether each peer took all of it. */
type Answers = Map<string, boolean>;

/** Keeps the words of each alert until it changes, so that no log is unpacked each minute. */
class AlertTexts {
  readonly #kept = new Map<string, { readonly state: string; readonly text: AlertmanagerAlert }>();

  put(alert: AlertRecord, text: AlertmanagerAlert | undefined): void {
    if (text !== undefined) this.#kept.set(alert.id, { state: stateOf(alert), text });
  }

  of(alert: AlertRecord): AlertmanagerAlert | undefined {
    const kept = this.#kept.get(alert.id);
    return kept?.state === stateOf(alert) ? kept.text : undefined;
  }

  keepOnly(ids: readonly string[]): void {
    const wanted = new Set(ids);
    for (const id of this.#kept.keys()) if (!wanted.has(id)) this.#kept.delete(id);
  }
}

/** A hash of the fields that the words of an alert come from. */
function stateOf({ severity, state, count, message, sinceAt, endedAt, figures, context }: AlertRecord): string {
  const of = JSON.stringify([severity, state, count, message, sinceAt, endedAt, figures, context]);
  return createHash('sha256').update(of).digest('base64');
}

/** Why Alertmanager keeps the alert from people, as a sentence without its subject. */
function muteInWords(mute: Mute): string {
  if (mute.by === 'inhibited') return 'inhibited in Alertmanager by another alert';
  if (mute.by === 'interval') return `muted in Alertmanager by its time interval ${mute.names.join(', ')}`.trimEnd();
  const by = mute.author === undefined ? '' : ` by ${mute.author}`;
  const until =
    mute.untilAt === undefined
      ? ''
      : ` until ${new Date(mute.untilAt).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return `silenced in Alertmanager${by}${until}${mute.comment === undefined ? '' : `: ${mute.comment}`}`;
}
