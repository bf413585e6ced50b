import type { Channel, ChannelDetail, ChannelTestResult, Delivery } from '@cronjob-monitor/shared/contract';
import type { Mark, Tone } from '../kit/icon/shapes.ts';
import { reasonText } from './alert-reasons.ts';
import { spelledOut } from './duration.ts';
import { countText, ordinal, plural } from './figures.ts';
import { readyMark } from './marks.ts';
import { safeText } from './safe-text.ts';
import { bothTimes, relativeText, shortTimeText } from './time.ts';
import type { Viewer } from './viewer.ts';

/** Chats by the names that they call themselves. */
export const chatNames: Readonly<Record<string, string>> = {
  slack: 'Slack',
  teams: 'Microsoft Teams',
  googlechat: 'Google Chat',
  discord: 'Discord',
  mattermost: 'Mattermost',
  telegram: 'Telegram',
  ntfy: 'ntfy',
};

/** Formats by the names of who reads them. */
export const formatNames: Readonly<Record<string, string>> = {
  ...chatNames,
  standard: 'JSON of this service',
  alertmanager: 'Alertmanager',
};

/** What a channel is: `Slack, #ops`, `webhook, POST`. */
export function channelKindText({ type, config }: Pick<Channel, 'type' | 'config'>): string {
  if (type === 'webhook' && config['format'] === 'alertmanager') return 'Alertmanager';
  const kind = (type === 'chat' ? chatNames[String(config['format'])] : undefined) ?? type;
  const told = config['channel'] ?? config['severity'] ?? config['to'] ?? config['method'];
  const words = Array.isArray(told) ? told.map(String).join(', ') : typeof told === 'string' ? told : '';
  return words === '' ? kind : `${kind}, ${type === 'email' ? 'to ' : ''}${words}`;
}

const reasons: Readonly<Record<string, string>> = {
  Validated: 'Its spec and its Secrets can be used',
  InvalidSpec: 'Its spec cannot be used',
  SecretNotFound: 'Its Secret does not exist',
  SecretForbidden: 'Its Secret may not be read',
  AddressRefused: 'Its address may not be called',
  Unauthorized: 'The receiver refuses its credentials',
  Gone: 'Nothing is at its address any more',
  ConsecutiveFailures: 'Its last messages failed',
  NotChecked: 'It was not checked yet',
};

const nextSteps: Readonly<Record<string, string>> = {
  InvalidSpec: 'Correct the field that is named.',
  SecretNotFound: 'Create the Secret, or correct the reference.',
  SecretForbidden: 'Let the controller read this Secret.',
  AddressRefused: 'Use an address outside of the cluster, or allow this one.',
  Unauthorized: 'Renew the credentials in its Secret; what is parked goes out by itself then.',
  Gone: 'Correct the address in its Secret; what is parked goes out by itself then.',
  ConsecutiveFailures: 'See what the receiver answers, below; a test that is accepted ends it.',
};

/** How a channel stands, as a sentence; what is amiss in the server's own words, where it has some. */
export function readyText({ reason, message }: Pick<Channel, 'reason' | 'message'>): string {
  return message === '' || reason === 'Validated' ? (reasons[reason] ?? reason) : spelledOut(message);
}

/** What to do about a channel that is not ready, and what failed last. */
export function nextStep(
  { ready, reason, stats }: Pick<Channel, 'ready' | 'reason' | 'stats'>,
  viewer: Viewer,
): string | undefined {
  const { lastFailedTime: at, lastFailedError: error } = stats;
  const failure = at === null ? undefined : `Last failure ${bothTimes(at, viewer)}${error ? `: ${error}` : ''}.`;
  return [ready ? undefined : nextSteps[reason], failure].filter(Boolean).join(' ') || undefined;
}

/** Ready, or not, as the first word of its row. */
export function channelMark({ ready, reason }: Pick<Channel, 'ready' | 'reason'>): Mark {
  return !ready && reason === 'NotChecked' ? { word: 'Not checked', shape: 'question', tone: 'off' } : readyMark(ready);
}

/** What came of a test: `Accepted`, `Refused: it answered 401`, `No controller took it`. */
export function testText({ success, message, category, httpStatus }: ChannelTestResult): string {
  if (success) return 'Accepted';
  if (category === 'noController') return 'No controller took it: none leads';
  if (category === 'waitExceeded') return 'Not known: no answer within 15 s. It may still arrive';
  if (httpStatus !== null) return `Refused: the receiver answered ${httpStatus}`;
  return `Failed: ${message === '' ? (reasonText(category) ?? 'no reason given') : message}`;
}

/** The last test of a channel, in a word or two. */
export function lastTestText({ lastTest }: Pick<Channel, 'lastTest'>): string {
  if (lastTest === null) return 'Never tested';
  return lastTest.result === 'success' ? 'Accepted' : 'Failed';
}

/** `last proved 6 days ago by ana`, `not proved: its newest drill was missed, last proved 6 days ago`. */
export function provedText({ proved, missedDrill }: Pick<Channel, 'proved' | 'missedDrill'>, nowMs: number): string {
  const last =
    proved === null
      ? 'never proved by a drill'
      : `last proved ${relativeText(proved.at, nowMs)}${proved.by === null ? '' : ` by ${safeText(proved.by)}`}`;
  return missedDrill ? `not proved: its newest drill was missed, ${last}` : last;
}

/** A cell of the facts of a channel; `isStale`: false where it does not age with the others. */
interface ChannelFact {
  readonly label: string;
  readonly value: string;
  readonly note: string | undefined;
  readonly tone?: Tone | undefined;
  readonly isStale?: false;
}

/** What is known of a channel beside its readiness, in the order of its page; `result`: of a test of this visit. */
export function channelFacts(
  channel: ChannelDetail,
  result: ChannelTestResult | undefined,
  viewer: Viewer,
): readonly ChannelFact[] {
  const { lastTest, stats } = channel;
  const time = (at: string): string => shortTimeText(at, viewer.timeZone, viewer.nowMs);
  const testNote =
    lastTest === null ? undefined : [bothTimes(lastTest.time, viewer), lastTest.message].filter(Boolean).join(': ');
  const hasFailed = result ? !result.success : lastTest?.result === 'failed';
  const waiting = [
    channel.queued > 0 ? `${countText(channel.queued)} queued` : undefined,
    channel.parked > 0 ? `${countText(channel.parked)} parked` : undefined,
    channel.dead > 0 ? `${countText(channel.dead)} given up` : undefined,
  ].filter((part) => part !== undefined);
  return [
    {
      label: 'Last test',
      value: result ? testText(result) : lastTestText(channel),
      tone: hasFailed ? 'crit' : undefined,
      note: testNote,
    },
    {
      label: 'Proved by a person',
      value: provedText(channel, viewer.nowMs),
      tone: channel.missedDrill ? 'warn' : undefined,
      note: channel.drill?.next ? `next drill ${time(channel.drill.next)}` : 'no drill is planned',
    },
    {
      label: 'Waiting',
      value: waiting.length === 0 ? 'No message' : waiting.join(', '),
      tone: channel.dead > 0 ? 'crit' : channel.parked > 0 ? 'held' : undefined,
      note: channel.parked > 0 ? 'parked ones go out when it is mended' : undefined,
    },
    {
      label: 'Sent',
      value: plural(stats.alertsSentTotal, 'message'),
      note: stats.lastAlertTime === null ? 'no alert yet' : `last alert ${time(stats.lastAlertTime)}`,
    },
    {
      label: 'Failed',
      value: countText(stats.alertsFailedTotal),
      tone: stats.consecutiveFailures > 0 ? 'warn' : undefined,
      note: `${stats.consecutiveFailures} in a row`,
    },
    {
      label: 'Limits',
      value: `${countText(channel.rateLimiting.maxAlertsPerHour)} an hour`,
      note: `burst ${countText(channel.rateLimiting.burstLimit)}`,
      isStale: false,
    },
  ];
}

/** What a delivery is about: the kind of alert, or the message's own kind. */
export function deliveryAbout({ type, kind }: Pick<Delivery, 'type' | 'kind'>): string {
  if (type !== null) return type;
  if (kind === 'drill') return 'A drill';
  return kind === 'test' ? 'A test' : 'A digest of several alerts';
}

/** Kinds of messages as words. */
export const deliveryKindWords: Readonly<Record<Delivery['kind'], string>> = {
  firing: 'First',
  reminder: 'Reminder',
  flapping: 'Flapping',
  update: 'Log and events',
  closing: 'Closing',
  digest: 'Digest',
  test: 'Test',
  drill: 'Drill',
};

/** How it went: the answer, the try, when the next one is. */
export function deliveryAnswer(delivery: Delivery, { timeZone, nowMs }: Viewer): string {
  const { state, attempts, lastError, nextAttemptAt, stateReason, sentAt } = delivery;
  const error = lastError === null ? '' : lastError.message || (reasonText(lastError.category) ?? '');
  const time = (at: string): string => shortTimeText(at, timeZone, nowMs);
  switch (state) {
    case 'sent':
      return `${sentAt === null ? 'Sent' : time(sentAt)}${attempts > 1 ? `, ${ordinal(attempts)} try` : ''}`;
    case 'parked':
      return error === '' ? 'Waits until the channel is mended' : error;
    case 'dead':
      return error === '' ? 'Its time ran out' : error;
    case 'collapsed':
      return 'Told by the message of another monitor';
    case 'digested':
      return 'Told inside a digest';
    case 'cancelled':
      return 'Closed before it left';
    default: {
      const isAhead = nextAttemptAt !== null && Date.parse(nextAttemptAt) > nowMs;
      const next = isAhead
        ? `Next try ${time(nextAttemptAt)}`
        : state === 'claimed'
          ? 'On its way'
          : 'Waits for its turn';
      const why = error === '' ? reasonText(stateReason) : error;
      return why === undefined ? next : `${next}: ${why}`;
    }
  }
}
