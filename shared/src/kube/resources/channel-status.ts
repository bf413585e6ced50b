import { soundChannel } from '../../contract/index.ts';
import { type DrillProof, judgeProof, type NeededSecret, ownName } from '../../domain/index.ts';
import { cutText, type Condition, type ConditionVerdict } from './condition.ts';
import type { DecodedChannel } from './decode-channel.ts';
import { describeProblems } from './reading.ts';

/** Figures of a channel, from the database. Instants as RFC 3339 text; null takes a field out of the status. */
export interface ChannelFigures {
  readonly alertsSentTotal: number;
  readonly alertsFailedTotal: number;
  readonly consecutiveFailures: number;
  readonly lastAlertTime: string | null;
  readonly lastFailedTime: string | null;
  readonly lastFailedError: string | null;
  readonly lastTestTime: string | null;
  readonly lastTestResult: 'success' | 'failed' | null;
  readonly lastTestError: string | null;
  readonly lastTestedGeneration: number | null;
}

/** `status` of an AlertChannel, as the body of a merge patch: a null removes a field. resources.md section 7. */
export interface ChannelStatus extends ChannelFigures {
  readonly observedGeneration: number;
  readonly ready: boolean;
  readonly conditions: readonly Condition[];
}

/** What became of the look at one Secret. `text`: what is wrong with a value, never the value. */
export type SecretFinding =
  | { readonly state: 'usable' }
  | { readonly state: 'notFound' | 'keyMissing' | 'notAllowed' | 'unlabelled' | 'noRight' }
  | { readonly state: 'unusable'; readonly text: string };

/** Which Secrets channels may use. `*` stands for all namespaces. */
export interface SecretRules {
  /** Where they may be: `channels.secret-namespaces`. */
  readonly namespaces: readonly string[];
  /** Where they need the label besides: `channels.require-secret-label`. */
  readonly labelled: readonly string[];
}

/** Says, on a Secret, that channels may use it: the author of a channel could have any other one of its namespace read. */
const secretLabel = ownName('channel-secret');

export function mayReadSecret(secret: Pick<NeededSecret, 'namespace'>, { namespaces }: SecretRules): boolean {
  return isAmong(secret.namespace, namespaces);
}

/** Whether a Secret lacks a label that the rules ask for. */
export function lacksLabel(
  { namespace }: Pick<NeededSecret, 'namespace'>,
  labels: Readonly<Record<string, string>>,
  { labelled }: SecretRules,
): boolean {
  return isAmong(namespace, labelled) && labels[secretLabel] !== 'true';
}

/** What is wrong with a Secret without the label, and what mends it. */
export function unlabelledSecret({ namespace, name }: Pick<NeededSecret, 'namespace' | 'name'>): string {
  return `Secret ${namespace}/${name} lacks the label ${secretLabel}: "true": kubectl -n ${namespace} label secret ${name} ${secretLabel}=true`;
}

function isAmong(namespace: string, namespaces: readonly string[]): boolean {
  return namespaces.includes('*') || namespaces.includes(namespace);
}

/** What the last deliveries say: attempts that failed for a reason that only a person can mend. */
export type DeliveryFault = 'AddressRefused' | 'Unauthorized' | 'Gone' | 'InvalidSpec';

export interface ChannelFacts {
  readonly decoded: DecodedChannel;
  /** In the order of `neededSecrets`; undefined: not looked at yet. */
  readonly secrets: readonly { readonly secret: NeededSecret; readonly finding: SecretFinding }[] | undefined;
  /** What the rules of the installation refuse in its spec; undefined: nothing. */
  readonly refusal: string | undefined;
  readonly lastFault: { readonly reason: DeliveryFault; readonly text: string } | undefined;
  readonly consecutiveFailures: number;
  readonly proof: DrillProof;
}

const failuresThatCount = 3;

/** The three conditions of a channel, in their order. */
export function judgeChannel(facts: ChannelFacts): ConditionVerdict[] {
  return [judgeReadiness(facts), soundChannel, judgeProof(facts.proof)];
}

/** Condition Ready: the first thing that keeps the channel from sending. */
function judgeReadiness(facts: ChannelFacts): ConditionVerdict {
  const { decoded, secrets, refusal, lastFault, consecutiveFailures } = facts;
  if (decoded.problems.length > 0) return not('InvalidSpec', describeProblems(decoded.problems));
  if (refusal !== undefined) return not('AddressRefused', refusal);
  if (secrets === undefined) {
    return {
      type: 'Ready',
      status: 'Unknown',
      reason: 'NotChecked',
      message: 'its Secrets have not been looked at yet',
    };
  }
  const worst = secrets.find(({ finding }) => finding.state !== 'usable');
  if (worst !== undefined) return judgeSecret(worst.secret, worst.finding);
  if (lastFault !== undefined) return not(lastFault.reason, lastFault.text);
  if (consecutiveFailures >= failuresThatCount) {
    return not('ConsecutiveFailures', `the last ${consecutiveFailures} attempts failed`);
  }
  return { type: 'Ready', status: 'True', reason: 'Validated', message: 'spec and Secrets can be used' };
}

function judgeSecret({ namespace, name, keys }: NeededSecret, finding: SecretFinding): ConditionVerdict {
  const secret = `Secret ${namespace}/${name}`;
  if (finding.state === 'unusable') return not('InvalidSpec', `${secret}: ${finding.text}`);
  if (finding.state === 'notFound') return not('SecretNotFound', `there is no ${secret}`);
  if (finding.state === 'keyMissing') return not('SecretNotFound', `${secret} has no key ${keys.join(', ')}`);
  if (finding.state === 'notAllowed')
    return not('SecretForbidden', `${secret} is in none of channels.secret-namespaces`);
  return finding.state === 'unlabelled'
    ? not('SecretForbidden', unlabelledSecret({ namespace, name }))
    : not('SecretForbidden', `the service has no right to read ${secret}`);
}

function not(reason: string, message: string): ConditionVerdict {
  return { type: 'Ready', status: 'False', reason, message };
}

/** The status to write; texts are cut to what the schema allows. */
export function toChannelStatus(
  generation: number,
  conditions: readonly Condition[],
  figures: ChannelFigures,
): ChannelStatus {
  const cut = (text: string | null): string | null => (text === null ? null : cutText(text, 256));
  return {
    observedGeneration: generation,
    ready: conditions.some(({ type, status }) => type === 'Ready' && status === 'True'),
    ...figures,
    lastFailedError: cut(figures.lastFailedError),
    lastTestError: cut(figures.lastTestError),
    conditions,
  };
}
