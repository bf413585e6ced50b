import { createHash } from 'node:crypto';
import type { DeliveryErrorCategory } from '@cronjob-monitor/shared/contract';
import {
  pagingEndpointRefused,
  type Instant,
  headingOf,
  type Message,
  chatUrlProblem,
  neededSecrets,
  routingKeyProblem,
  webhookUrlProblem,
  type NeededSecret,
  type SecretKeyRef,
} from '@cronjob-monitor/shared/domain';
import {
  isSame,
  judgeChannel,
  toChannelStatus,
  toConditions,
  toTimeText,
  type ChannelFigures,
  type ChannelSpec,
  type Cluster,
  type Condition,
  type DeliveryFault,
  type SecretRules,
  ClusterError,
  lacksLabel,
  mayReadSecret,
  type SecretContent,
  type SecretFinding,
} from '@cronjob-monitor/shared/kube';
import type { Clock } from '@cronjob-monitor/shared/process';
import {
  findChannelFault,
  findChannelFigures,
  findProjectedChannel,
  findProof,
  forgetChannel,
  projectChannel,
  updateCancelledOfChannel,
  updateHoldChecked,
  updateHoldLifted,
  type ProjectedChannel,
  type Store,
  type StoredChannelFigures,
  type Tx,
  insertDelivery,
  newId,
} from '@cronjob-monitor/shared/store';
import type { ComeBack } from '../../runtime/index.ts';
import type { ChannelSeen } from '../../selection/index.ts';

interface ChannelReconcilerDeps {
  readonly channels: { find(uid: string): ChannelSeen | undefined };
  readonly store: Store;
  readonly epoch: number;
  readonly cluster: Pick<Cluster, 'findSecret' | 'patchChannelStatus'>;
  readonly rules: SecretRules;
  /** Whether events for people who are on call may go there: `channels.paging-endpoints`. */
  readonly takesPages: (endpoint: URL) => boolean;
  readonly clock: Clock;
  /** What the test of a saved channel says of where it comes from. */
  readonly links?: TestLinks | undefined;
}

/** Secrets are not watched: one that appears or changes is noticed within this time. */
const lookAgainMs = 60_000;

/** One channel: validation and Secrets into its row and its status, figures of its deliveries beside them. Sends nothing. */
export async function reconcileChannel(
  uid: string,
  deps: ChannelReconcilerDeps,
  signal: AbortSignal,
): Promise<ComeBack> {
  const { store, epoch } = deps;
  const now = deps.clock.now();
  const channel = deps.channels.find(uid);
  if (!channel) {
    await store.fenced(epoch, async (tx) => {
      await updateCancelledOfChannel(tx, uid, tx.now());
      await forgetChannel(tx, uid, now);
    });
    return undefined;
  }
  const { decoded } = channel;
  const looks = decoded.spec ? await lookAtSecrets(decoded.spec, deps, signal) : undefined;
  const stored = await findChannelFigures(store, uid);
  const secretVersion = looks?.map(({ version }) => version ?? '').join(',');
  const hold = await readHold(store, uid, { generation: channel.generation, secretVersion });
  const verdicts = judgeChannel({
    decoded,
    secrets: looks,
    refusal: refusalOf(decoded.spec, deps),
    lastFault: hold.fault,
    consecutiveFailures: stored?.failuresInRow ?? 0,
    proof: (await findProof(store, uid)) ?? { provedAt: undefined, provedBy: undefined, missed: undefined },
  });
  const earlier = (channel.status as { conditions?: unknown } | null | undefined)?.conditions;
  const conditions = toConditions(verdicts, earlier, { now, generation: channel.generation });
  const status = toChannelStatus(channel.generation, conditions, toFigures(stored));

  const ready = verdicts.find(({ type }) => type === 'Ready');
  const type = decoded.type;
  // What does not even say its type cannot be listed among channels; its condition says so.
  if (type !== undefined) {
    const isUsable = looks?.every(({ finding }) => finding.state === 'usable') === true;
    await store.fenced(epoch, async (tx) => {
      // Messages are locked before channels, everywhere.
      if (hold.isOver) await letGo(tx, uid);
      if (isUsable) await testOnSave(tx, { uid, channel, tested: stored?.lastTest?.generation }, deps.links);
      await projectChannel(
        tx,
        {
          uid,
          name: channel.name,
          type,
          generation: channel.generation,
          spec: withoutHeaderValues(decoded.spec),
          ready: status.ready,
          reason: ready?.reason ?? 'NotChecked',
          message: ready?.message ?? '',
          readyChangedAt: changedAtOf(conditions),
          secretVersion,
        },
        now,
      );
    });
  }
  if (!saysTheSame(channel.status, status)) {
    await deps.cluster.patchChannelStatus(channel.name, status, channel.resourceVersion || undefined, signal);
  }
  return now + lookAgainMs;
}

/** When the condition Ready last changed. */
function changedAtOf(conditions: readonly Condition[]): Instant | undefined {
  const ready = conditions.find(({ type }) => type === 'Ready');
  return ready && Date.parse(ready.lastTransitionTime);
}

/** What the rules of the installation refuse, whatever the Secrets say. */
function refusalOf(spec: ChannelSpec | undefined, { takesPages }: ChannelReconcilerDeps): string | undefined {
  const endpoint =
    spec?.type === 'paging' && spec.paging.endpoint !== undefined ? URL.parse(spec.paging.endpoint) : null;
  return endpoint === null || takesPages(endpoint) ? undefined : pagingEndpointRefused;
}

/** What keeps a channel from sending until a person mends it; and whether a person has changed its spec or a Secret since. */
async function readHold(
  store: Store,
  uid: string,
  now: Omit<ProjectedChannel, 'hold'>,
): Promise<{ readonly fault: ChannelFault | undefined; readonly isOver: boolean }> {
  const before = await findProjectedChannel(store, uid);
  if (before?.hold !== 'parked' && before?.hold !== 'invalid') return { fault: undefined, isOver: false };
  const isChanged = before.generation !== now.generation || before.secretVersion !== now.secretVersion;
  if (isChanged) return { fault: undefined, isOver: true };
  const found = await findChannelFault(store, uid);
  return { fault: found && { reason: reasonOf(found.category), text: found.message }, isOver: false };
}

interface ChannelFault {
  readonly reason: DeliveryFault;
  readonly text: string;
}

function reasonOf(category: DeliveryErrorCategory | undefined): DeliveryFault {
  if (category === 'addressRefused') return 'AddressRefused';
  if (category === 'notFound') return 'Gone';
  return category === 'secret' || category === 'rejected' || category === 'template' ? 'InvalidSpec' : 'Unauthorized';
}

/** What was parked is tried again, what could not even be tried is looked at again at once. */
async function letGo(tx: Tx, uid: string): Promise<void> {
  const hold = (await findProjectedChannel(tx, uid))?.hold;
  if (hold === 'parked') await updateHoldLifted(tx, uid);
  if (hold === 'invalid') await updateHoldChecked(tx, uid, tx.now());
}

/** Values of headers may be credentials: only their names are kept. */
function withoutHeaderValues(spec: ChannelSeen['decoded']['spec']): unknown {
  if (spec?.type !== 'webhook') return spec ?? {};
  const headers = Object.fromEntries(Object.keys(spec.webhook.headers).map((name) => [name, '***']));
  return { ...spec, webhook: { ...spec.webhook, headers } };
}

function toFigures(stored: StoredChannelFigures | undefined): ChannelFigures {
  const text = (at: Instant | undefined): string | null => (at === undefined ? null : toTimeText(at));
  const test = stored?.lastTest;
  return {
    alertsSentTotal: stored?.sentTotal ?? 0,
    alertsFailedTotal: stored?.failedTotal ?? 0,
    consecutiveFailures: stored?.failuresInRow ?? 0,
    lastAlertTime: text(stored?.lastSentAt),
    lastFailedTime: text(stored?.lastFailedAt),
    lastFailedError: stored?.lastError ?? null,
    lastTestTime: text(stored?.lastTestAt),
    lastTestResult: test ? (test.success ? 'success' : 'failed') : null,
    lastTestError: test && !test.success ? test.message : null,
    lastTestedGeneration: test?.generation ?? null,
  };
}

/** A null of the patch is a field that is not there. */
function saysTheSame(current: unknown, next: object): boolean {
  const present = Object.fromEntries(Object.entries(next).filter(([, value]) => value !== null));
  return isSame(current ?? {}, present);
}

/** A test that cannot go out within this time says nothing of the channel any more. */
const testMs = 15_000;

interface TestLinks {
  /** `cluster.name`. */
  readonly clusterName: string | undefined;
  /** `ui.external-url`. */
  readonly externalUrl: string | undefined;
}

/**
 * Leaves a test for a channel that asks for one whenever it is saved: one for each generation, as soon as its Secrets can be used. It goes
 * the way of every message. `tested`: the generation that was tested last; undefined: none was.
 */
async function testOnSave(
  tx: Tx,
  of: { readonly uid: string; readonly channel: ChannelSeen; readonly tested: number | undefined },
  links: TestLinks | undefined,
): Promise<void> {
  const { uid, channel, tested } = of;
  const { name, generation } = channel;
  if (channel.decoded.spec?.testOnSave !== true || (tested !== undefined && tested >= generation)) return;
  const now = tx.now();
  const id = newId(now);
  const base = links?.externalUrl?.replace(/\/+$/, '');
  const message: Message = {
    kind: 'test',
    data: {
      cluster: links?.clusterName ?? null,
      channel: name,
      message: `The channel ${name} was saved. If you read this, alerts arrive here.`,
      links: { channel: base === undefined ? null : `${base}/channels/${encodeURIComponent(name)}` },
    },
  };
  await insertDelivery(tx, {
    id,
    streamId: id,
    seq: 1,
    alertId: undefined,
    channel: { uid, name },
    kind: 'test',
    severity: 'info',
    state: 'ready',
    dedupKey: createHash('sha256')
      .update(['testOnSave', uid, String(generation)].join('\n'))
      .digest('hex'),
    notifyNo: 1,
    nextAt: now,
    createdAt: now,
    expiresAt: now + testMs,
    payload: { message, heading: headingOf(message), place: null },
  });
}

/** Looks at every Secret that a channel needs; says what is wrong with each, and never what is in it. */
export async function lookAtSecrets(
  spec: ChannelSpec,
  deps: { readonly cluster: Pick<Cluster, 'findSecret'>; readonly rules: SecretRules },
  signal: AbortSignal,
): Promise<{ secret: NeededSecret; finding: SecretFinding; version: string | undefined }[]> {
  const looks = neededSecrets(spec).map(async (secret) => {
    // Asked before the read: a refused reference is no reason to touch the Secret.
    if (!mayReadSecret(secret, deps.rules))
      return { secret, finding: { state: 'notAllowed' as const }, version: undefined };
    const content = await find(secret, deps.cluster, signal);
    if (content === 'noRight') return { secret, finding: { state: 'noRight' as const }, version: undefined };
    return {
      secret,
      finding: judge(secret, content, deps.rules, shapeOf(secret, spec)),
      version: content?.resourceVersion,
    };
  });
  return Promise.all(looks);
}

async function find(
  { namespace, name }: NeededSecret,
  cluster: Pick<Cluster, 'findSecret'>,
  signal: AbortSignal,
): Promise<SecretContent | 'noRight' | undefined> {
  try {
    return await cluster.findSecret({ namespace, name }, signal);
  } catch (error) {
    if (error instanceof ClusterError && error.code === 'forbidden') return 'noRight';
    throw error;
  }
}

function judge(
  secret: NeededSecret,
  content: SecretContent | undefined,
  rules: SecretRules,
  problemOf: ((value: string) => string | undefined) | undefined,
): SecretFinding {
  if (!content) return { state: 'notFound' };
  if (lacksLabel(secret, content.labels, rules)) return { state: 'unlabelled' };
  if (secret.keys.some((key) => !content.values.get(key))) return { state: 'keyMissing' };
  for (const key of problemOf ? secret.keys : []) {
    const problem = problemOf?.(content.values.get(key)?.trim() ?? '');
    if (problem !== undefined) return { state: 'unusable', text: `the value of ${key} ${problem}` };
  }
  return { state: 'usable' };
}

/** What a value must look like that is sent, or sent to; undefined: the Secret holds no such value. */
function shapeOf(secret: NeededSecret, spec: ChannelSpec): ((value: string) => string | undefined) | undefined {
  const isOf = (ref: SecretKeyRef): boolean =>
    ref.namespace === secret.namespace && ref.name === secret.name && secret.keys.includes(ref.key);
  if (spec.type === 'paging') return isOf(spec.paging.routingKeySecretRef) ? routingKeyProblem : undefined;
  if (spec.type === 'chat') {
    const { format, webhookSecretRef } = spec.chat;
    return isOf(webhookSecretRef) ? (value) => chatUrlProblem(format, value) : undefined;
  }
  if (spec.type !== 'webhook' || !isOf(spec.webhook.urlSecretRef)) return undefined;
  const { format } = spec.webhook;
  return (value) => webhookUrlProblem(format, value);
}
