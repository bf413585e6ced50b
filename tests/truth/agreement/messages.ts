import { nameOf, type Pages } from './pages.ts';

/** As a webhook gets it, as far as it is read here. */
export interface MessageTaken {
  readonly type: string;
  readonly timestamp: string;
  readonly data: {
    readonly alert?: {
      readonly id: string;
      readonly type: string;
      readonly severity: string;
      readonly state: string;
      readonly title: string;
      readonly message: string;
      readonly since: string;
      readonly occurrences: number;
    };
    readonly cronjob?: { readonly namespace: string; readonly name: string };
  };
}

/** What a receiver took names an alert that the pages have, with the same facts, and what is called told was taken. */
export function contradictionsOfMessages(pages: Pages, messages: readonly MessageTaken[]): string[] {
  return [...ofTaken(pages, messages), ...ofTold(pages, messages)];
}

function* ofTaken(
  { alerts, history, alertDetails, endedDetails }: Pages,
  messages: readonly MessageTaken[],
): Generator<string> {
  const known = new Map([...history, ...alerts].map((alert) => [alert.id, alert]));
  const timelines = new Map([...alertDetails, ...endedDetails].map(({ id, timeline }) => [id, timeline]));
  const newest = new Map(messages.flatMap(({ data: { alert } }) => (alert ? [[alert.id, alert] as const] : [])));
  for (const { type, timestamp, data } of messages) {
    const { alert, cronjob } = data;
    if (!alert || !cronjob) continue;
    const page = known.get(alert.id);
    const place = `the message ${type} of ${nameOf(cronjob)}`;
    if (!page) {
      yield `${place} is about the alert ${alert.id}, which no page has`;
      continue;
    }
    if (page.type !== alert.type || nameOf(page.cronjob) !== nameOf(cronjob))
      yield `${place} is about ${alert.type}, its page about ${page.type} of ${nameOf(page.cronjob)}`;
    // What moves while an alert lives, such as a severity after an edit, is that of its newest message.
    if (newest.get(alert.id) !== alert) continue;
    const timeline = timelines.get(alert.id) ?? [];
    // The timeline of its page says when an edit changed its severity; where the edit names no channel no message says it.
    if (timeline.some(({ kind }) => kind === 'severityChanged')) continue;
    // One that came back holds since a later instant; where it is held back since then, its newest message is of the time before.
    const cameAt = timeline.findLast(({ kind }) => kind === 'detected')?.at;
    if (cameAt !== undefined && timestamp < cameAt) continue;
    if (page.severity !== alert.severity) yield `${place} says ${alert.severity}, its page ${page.severity}`;
    if (page.since !== alert.since) yield `${place} says since ${alert.since}, its page ${page.since}`;
    if (alert.occurrences > page.occurrences)
      yield `${place} counts ${alert.occurrences}, its page ${page.occurrences}`;
    // The figures of these change while they hold, and why a CronJob is missing or how often it failed; the message has those of its instant.
    const hasFigures = page.type === 'slaBreached' || page.type === 'durationRegression' || page.type === 'absent';
    const isSame = !hasFigures && alert.occurrences === page.occurrences && alert.state === page.state;
    if (isSame && !withoutAges(alert.message).includes(withoutAges(page.message)))
      yield `${place} says "${alert.message}", its page "${page.message}"`;
    const word = type === 'alert.firing' ? `${page.severity.toUpperCase()} ` : '';
    if (!alert.title.includes(`${word}${nameOf(cronjob)}: `)) yield `${place} is titled "${alert.title}"`;
    if (page.channelsNotified.length === 0) yield `${place} was taken, and its page says that no channel was notified`;
  }
}

/** A message is of its instant: how long something lasts has gone on since. */
function withoutAges(text: string): string {
  return text.replaceAll(/\b\d+ (d|h|min|s)( \d+ (h|min|s))?\b/g, 'a while');
}

/**
 * Of each alert that is told of a receiver took a message. Of two monitors that say the same of one CronJob one message is sent, and tells of
 * both alerts: the delivery of the other one names that which it was merged into.
 */
function* ofTold({ alertDetails, endedDetails }: Pages, messages: readonly MessageTaken[]): Generator<string> {
  if (messages.some(({ type }) => type === 'alert.digest')) return;
  const taken = new Set(messages.map(({ data }) => data.alert?.id));
  const alertOf = new Map(
    [...alertDetails, ...endedDetails].flatMap(({ id, deliveries }) =>
      deliveries.map((delivery) => [delivery.id, id] as const),
    ),
  );
  for (const { id, told, cronjob, deliveries } of alertDetails) {
    if (told.state !== 'sent' || !told.channels.some(({ state }) => state === 'sent')) continue;
    const tellers = [id, ...deliveries.map(({ mergedInto }) => alertOf.get(mergedInto ?? ''))];
    if (!tellers.some((teller) => teller !== undefined && taken.has(teller)))
      yield `alert ${id} of ${nameOf(cronjob)} is told of, and no receiver took a message about it: ${JSON.stringify(told)}`;
  }
}
