import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { Store } from '@cronjob-monitor/shared/store';
import type { HttpSink } from '../../sinks/index.ts';
import { readNumber, readRows } from '../../store/rows.ts';
import { accepted, told, type ToldOf } from '../harness/receiver.ts';

/** What must be heard about one CronJob at its channel, in order. */
interface ExpectedMessages {
  readonly cronJob: string;
  readonly channel: string;
  readonly words: readonly string[];
}

interface MessageAgreement {
  /** Sends that were on their way when their sender was killed or stopped: so many may come twice. */
  readonly inFlight: number;
  readonly withinMs: number;
}

/**
 * Every message has arrived, in its order, and nothing else; what came twice came under the key of the first, and no more often than
 * there were sends on their way at a kill (invariants I1, I2 and I3). Returns how many came twice.
 */
export async function untilAllTold(
  { sink, store }: { readonly sink: HttpSink; readonly store: Store },
  expected: readonly ExpectedMessages[],
  { inFlight, withinMs }: MessageAgreement,
): Promise<number> {
  const endsAt = performance.now() + withinMs;
  for (;;) {
    const found = [...(await openProblems(store)), ...messageProblems(sink, expected)];
    if (found.length === 0) break;
    if (performance.now() > endsAt) assert.deepEqual(found.slice(0, 20), [], `${found.length} problems`);
    await wait(250);
  }
  const sent = await readNumber(store, `select count(*) as n from deliveries where state = 'sent'`);
  const twice = sink.arrivals.filter(accepted).length - sent;
  assert.ok(twice <= inFlight, `${twice} messages came twice, ${inFlight} were on their way`);
  return twice;
}

/** Sentences about what the receiver took: too little, too much, in a wrong order, or twice and not the same. */
function messageProblems(sink: HttpSink, expected: readonly ExpectedMessages[]): string[] {
  const problems: string[] = [];
  for (const channel of new Set(expected.map((one) => one.channel))) {
    const heard = Map.groupBy(told(sink, channel).filter(accepted), ({ cronJob }) => cronJob);
    for (const { cronJob, words } of expected.filter((one) => one.channel === channel)) {
      const messages = heard.get(cronJob) ?? [];
      heard.delete(cronJob);
      problems.push(...orderProblems(cronJob, messages));
      const once = firstOfEachKey(messages).map((message) => message.words);
      if (JSON.stringify(once) !== JSON.stringify(words))
        problems.push(`${cronJob}: heard ${once.join(', ') || 'nothing'}, not ${words.join(', ')}`);
    }
    for (const [cronJob, messages] of heard)
      problems.push(`${cronJob}: ${messages.length} messages that are not expected`);
  }
  return problems;
}

/** Repetitions count: an opening that comes again after its closing would leave the receiver with something open. */
function orderProblems(cronJob: string, messages: readonly ToldOf[]): string[] {
  const problems: string[] = [];
  const closed = new Set<string>();
  const bodies = new Map<string, string>();
  for (const { key, words, data } of messages) {
    const { id } = data['alert'] as { readonly id: string };
    if (words.startsWith('resolved')) closed.add(id);
    else if (closed.has(id)) problems.push(`${cronJob}: ${words} after its end`);
    const body = JSON.stringify(data);
    if ((bodies.get(key) ?? body) !== body) problems.push(`${cronJob}: ${words} came twice and differs`);
    bodies.set(key, body);
  }
  return problems;
}

function firstOfEachKey(messages: readonly ToldOf[]): ToldOf[] {
  const seen = new Set<string>();
  return messages.filter(({ key }) => !seen.has(key) && seen.add(key));
}

/** Messages that still wait for something. */
async function openProblems(store: Store): Promise<string[]> {
  const open = await readRows(
    store,
    `select d.channel_name as channel, d.kind, d.state, d.state_reason as reason, count(*) as n, max(d.attempts) as attempts,
       min(d.next_at) as next_at, max(d.next_at) as last_at, max(d.claim_until) as claim_until, max(c.hold) as hold, max(c.hold_until) as hold_until
     from deliveries d left join channels c on c.uid = d.channel_uid
     where d.state not in ('sent', 'cancelled', 'collapsed', 'digested') group by d.channel_name, d.kind, d.state, d.state_reason`,
  ).catch(() => [{ state: 'unknown' }]); // the database is away
  return open.map((row) => `not told: ${Object.entries(row).map(toWords).join(', ')}`);
}

/** Instants as seconds from now. */
function toWords([name, value]: [string, unknown]): string {
  const isInstant = value !== null && /_(at|until)$/.test(name);
  return `${name} ${isInstant ? `${Math.round((Number(value) - Date.now()) / 1_000)} s` : String(value)}`;
}
