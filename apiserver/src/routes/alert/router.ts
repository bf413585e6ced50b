import {
  type Ability,
  AcknowledgeInput,
  AcknowledgeResult,
  type Alert,
  AlertDetail,
  type AlertTimelineEntry,
  type AlertTimelineKind,
  type AlertWaitsFor,
} from '@cronjob-monitor/shared/contract';
import { closeCauseInWords, type Instant, toAlertFacts } from '@cronjob-monitor/shared/domain';
import {
  type Evidence,
  findAlert,
  findExecution,
  findHolder,
  listChannelNames,
  listCronJobIds,
  listDecisions,
  listDeliveries,
  listEvidence,
  listTold,
  type StoredAlert,
  type StoredDecision,
} from '@cronjob-monitor/shared/store';
import type { ApiContext } from '../../context.ts';
import { invalidRequest, notFound } from '../../errors.ts';
import { callerOf, permitIn } from '../../middleware/guard.ts';
import { instantForms, readInstant } from '../../middleware/parameters.ts';
import { authorOf } from '../author.ts';
import type { RouteDeps } from '../deps.ts';
import { isKept } from '../known-cron-job.ts';
import { route } from '../route.ts';
import { isObjectId } from '../../object-name.ts';
import { presentDelivery } from '../deliveries/present.ts';
import { presentEvents, presentLog } from '../executions/present.ts';
import { orNull, toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';
import { presentAlert } from '../alerts/present.ts';
import { type ExplainedRun, explainRuns } from '../verdicts/explain-run.ts';
import { gatherWhy } from '../verdicts/why.ts';
import { readSurroundings } from '../verdicts/surroundings.ts';

/** One alert with its history, and its acknowledgement. */
export const alertRoutes = [
  route(
    {
      method: 'GET',
      path: '/alerts/:id',
      tag: 'Alerts',
      id: 'getAlert',
      says: 'One alert, open or in history, with its messages and why it was told or not',
      ability: 'read',
      asksLater: true,
      answer: AlertDetail,
    },
    async ({ deps, ctx }) => {
      const alert = await findPermitted(deps, ctx);
      return readAlertDetail(deps, alert, {
        withheld: !(await may(deps, ctx, 'readLogs', alert.cronJob.namespace)),
        mayRead: (namespace) => may(deps, ctx, 'read', namespace),
      });
    },
  ),
  route(
    {
      method: 'POST',
      path: '/alerts/:id/acknowledge',
      tag: 'Alerts',
      id: 'acknowledgeAlert',
      says: 'Takes note of an open alert, in place of an earlier note',
      ability: 'acknowledge',
      elsewhere: true,
      asksLater: true,
      body: AcknowledgeInput,
      optionalBody: true,
      answer: AcknowledgeResult,
      refusals: [409],
    },
    async ({ deps, ctx, body: { note, expiresAt: until, by } }) => {
      const { store, actions } = deps;
      const expiresAt = until === undefined ? undefined : readFuture(until, store.now());
      ctx.state.comment = note ?? '';
      const { id } = await findPermitted(deps, ctx);
      // An empty note says nothing.
      await actions.acknowledge({ alertId: id, by: authorOf(ctx, by), note: note || undefined, expiresAt });
      return presentResult(deps, id, 'Acknowledged');
    },
  ),
  route(
    {
      method: 'DELETE',
      path: '/alerts/:id/acknowledge',
      tag: 'Alerts',
      id: 'unacknowledgeAlert',
      says: 'Takes the acknowledgement back; answers 200 too when there is none',
      ability: 'acknowledge',
      elsewhere: true,
      asksLater: true,
      answer: AcknowledgeResult,
      refusals: [409],
    },
    async ({ deps, ctx }) => {
      const { actions } = deps;
      const { id } = await findPermitted(deps, ctx);
      const wasThere = await actions.unacknowledge(id, authorOf(ctx));
      return presentResult(deps, id, wasThere ? 'The acknowledgement was taken back' : 'There was no acknowledgement');
    },
  ),
];

/** Its path names no namespace: the alert does. */
async function findPermitted({ store }: RouteDeps, ctx: ApiContext): Promise<StoredAlert> {
  const alert = await getAlert(store, ctx.params['id'] ?? '');
  await permitIn(ctx, alert.cronJob.namespace);
  return alert;
}

async function may(
  { authentication }: RouteDeps,
  ctx: ApiContext,
  ability: Ability,
  namespace: string,
): Promise<boolean> {
  return authentication.may(callerOf(ctx), ability, { namespace });
}

async function presentResult(deps: RouteDeps, id: string, message: string): Promise<AcknowledgeResult> {
  return { success: true, message, alert: await presentOneAlert(deps, await getAlert(deps.store, id)) };
}

/** An instant of a body that is still to come. Throws INVALID_REQUEST. */
export function readFuture(text: string, now: Instant): Instant {
  const reading = readInstant(text);
  if ('at' in reading && reading.at > now) return reading.at;
  const message = 'problem' in reading ? reading.problem : 'must be in the future';
  throw invalidRequest([{ in: 'body', field: 'expiresAt', message, allowed: instantForms }]);
}

type Store = RouteDeps['store'];

/** The alert that a path names, open or in history. Throws NOT_FOUND. */
async function getAlert(store: Store, id: string): Promise<StoredAlert> {
  const alert = isObjectId(id) ? await findAlert(store, id) : undefined;
  if (!alert) throw notFound('Alert', id, 'neverSeen');
  return alert;
}

/** One alert as lists show it. */
async function presentOneAlert(deps: Pick<RouteDeps, 'store' | 'settings'>, alert: StoredAlert): Promise<Alert> {
  const { store } = deps;
  const surroundings = await readSurroundings(deps);
  const why = await gatherWhy(deps, { alerts: [alert] }, surroundings);
  const explained = alert.type === 'jobFailed' ? await explainRunOf(store, alert) : undefined;
  const told = (await listTold(store, [alert.id])).get(alert.id);
  const shown = presentAlert(alert, told, surroundings, why);
  if (explained?.suggestedFix === undefined || shown.context.suggestedFix !== null) return shown;
  return { ...shown, context: { ...shown.context, suggestedFix: explained.suggestedFix } };
}

/** Why the run failed that the alert is about, as far as its row and what was captured of it tell. */
async function explainRunOf(store: Store, alert: StoredAlert): Promise<ExplainedRun | undefined> {
  const { jobName } = toAlertFacts(alert.context);
  if (jobName === undefined) return undefined;
  const run = await findExecution(store, { cronJobIds: [alert.cronJobId], jobName });
  return run && (await explainRuns(store, alert.cronJobId, [run])).get(run.jobUid);
}

/** One alert with all that was decided and sent about it. `withheld`: the caller may not read logs and events. */
async function readAlertDetail(
  deps: Pick<RouteDeps, 'store' | 'settings'>,
  alert: StoredAlert,
  { withheld, mayRead }: { readonly withheld: boolean; readonly mayRead: (namespace: string) => Promise<boolean> },
): Promise<AlertDetail> {
  const { store } = deps;
  const base = await presentOneAlert(deps, alert);
  const [evidence, deliveries, decisions, channelNames] = await Promise.all([
    withheld ? [] : listEvidenceOf(store, alert, base.context.jobName),
    listDeliveries(store, { alertId: alert.id }, { sort: { key: 'createdAt', descending: false } }),
    listDecisions(store, alert.id),
    listChannelNames(store),
  ]);
  return {
    ...base,
    severitySource: alert.severitySource,
    flappingUntil: toWireInstantOrNull(alert.flappingUntil),
    cronjobKept: await isKept(store, alert.cronJob),
    waitsFor: base.told.reason === 'dependsOn' ? await readWaitsFor(store, decisions, mayRead) : null,
    withheld,
    logs: withheld ? null : presentLog(evidence),
    events: withheld ? null : presentEvents(evidence),
    deliveries: deliveries.map(presentDelivery),
    timeline: presentTimeline(decisions, channelNames),
  };
}

/** The alert that the last hold names. Who may not read its CronJob learns nothing of it. */
async function readWaitsFor(
  store: Store,
  decisions: readonly StoredDecision[],
  mayRead: (namespace: string) => Promise<boolean>,
): Promise<AlertWaitsFor | null> {
  const id = decisions.findLast(({ action }) => action === 'held')?.detail;
  const holder = id === undefined ? undefined : await findHolder(store, id);
  if (id === undefined || holder === undefined || !(await mayRead(holder.namespace))) return null;
  const { namespace, name, type, sinceAt, channels } = holder;
  return { id, cronjob: { namespace, name }, type, since: toWireInstant(sinceAt), channels };
}

/** What was captured for the alert itself, as for a run that never starts; else what was captured of its run. */
async function listEvidenceOf(store: Store, alert: StoredAlert, jobName: string | null): Promise<Evidence[]> {
  const own = await listEvidence(store, alert.id);
  if (own.length > 0 || jobName === null) return own;
  const cronJobIds = await listCronJobIds(store, alert.cronJob.namespace, alert.cronJob.name);
  const run = await findExecution(store, { cronJobIds, jobName });
  return run ? listEvidence(store, run.jobUid) : [];
}

type Wording = (decision: StoredDecision, channel: string) => string;

const because = ({ reason }: StoredDecision): string => (reason === undefined ? '' : `: ${reason}`);
const until = ({ untilAt }: StoredDecision): string =>
  untilAt === undefined ? '' : `, until ${toWireInstant(untilAt)}`;
const quoted = ({ detail }: StoredDecision): string => (detail === undefined ? '' : `: ${detail}`);

/** One sentence for each kind of decision; what is said besides stands in the fields of the entry. */
const wordings: Readonly<Record<AlertTimelineKind, Wording>> = {
  detected: ({ detail }) => detail ?? 'It was noticed',
  pending: (decision) => `No channel is told yet${because(decision)}${until(decision)}`,
  activated: () => 'It became active',
  suppressed: (decision) => `Held back${because(decision)}${until(decision)}`,
  released: (decision) => `Held back no more${because(decision)}`,
  occurrence: (decision) => `It happened again${because(decision)}`,
  severityChanged: (decision) => `The severity changed${because(decision)}`,
  held: (decision) => `No message${because(decision)}${until(decision)}`,
  queued: (decision, channel) =>
    decision.reason === 'firstNotice'
      ? `A message to ${channel} was made: it tells that it began and that it is over`
      : `A message to ${channel} was made${because(decision)}`,
  notRouted: (decision) => {
    const { reason, detail = '' } = decision;
    if (reason === 'unknownChannel') return `No channel is named ${detail}`.trimEnd();
    if (reason === 'channelNotAllowed') return `The channel ${detail} does not admit the namespace`;
    if (reason === 'instead') return `Told to ${detail} alone`;
    return `No message is wanted${because(decision)}`;
  },
  collapsed: (_decision, channel) => `${channel} hears of it by another message`,
  rateLimited: (decision, channel) => `${channel} waits for its rate limit${until(decision)}`,
  digested: (_decision, channel) => `${channel} hears of it in a digest`,
  attemptFailed: (decision, channel) => `${channel} did not take it${quoted(decision)}`,
  parked: (decision, channel) => `${channel} must be mended before it is sent${because(decision)}`,
  dead: (decision, channel) => `Given up for ${channel}${because(decision)}`,
  redriven: (_decision, channel) => `Queued again for ${channel}`,
  sent: (_decision, channel) => `Sent to ${channel}`,
  acknowledged: (decision) => `Acknowledged${quoted(decision)}`,
  unacknowledged: (decision) => `The acknowledgement ended${because(decision)}`,
  mutedThere: ({ detail }, channel) => `${channel} keeps it from people: ${detail ?? 'it is muted there'}`,
  unmutedThere: (_decision, channel) => `${channel} keeps it from people no more`,
  resolved: (decision) => `Resolved${quoted(decision)}`,
  expired: ({ reason }) => `Closed${reason === undefined ? '' : `: ${closeCauseInWords(reason)}`}`,
  cancelled: (decision) =>
    decision.reason === 'firstNotice'
      ? 'Nothing is sent: one message tells that it began and that it is over'
      : `Nothing is sent${because(decision)}`,
};

/** The ledger of an alert, oldest first: why it was told, or was not. */
function presentTimeline(
  decisions: readonly StoredDecision[],
  channelNames: ReadonlyMap<string, string>,
): AlertTimelineEntry[] {
  return decisions.map((decision) => {
    const channel = decision.channelUid === undefined ? undefined : channelNames.get(decision.channelUid);
    const says = wordings[decision.action](decision, channel ?? 'the channel');
    const repeats = decision.times > 1 ? ` (${decision.times} times, last ${toWireInstant(decision.lastAt)})` : '';
    return {
      at: toWireInstant(decision.at),
      kind: decision.action,
      reason: orNull(decision.reason),
      channel: orNull(channel),
      deliveryId: orNull(decision.deliveryId),
      by: orNull(decision.byWhom),
      message: says + repeats,
    };
  });
}
