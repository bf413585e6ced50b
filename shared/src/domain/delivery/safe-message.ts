import { cutEnd, inBytes, keepEnd, toPlainLine, toPlainText } from '../text/cut.ts';
import type { AlertMessage, Message, MessageContext, MessageLinks } from './message.ts';

/** Bytes of a log that a message carries: no receiver takes more. */
const mostLogBytes = 16 * 1024;
/** Most characters of each text of a message; a channel cuts further where its receiver asks for it. */
const most = { title: 1_024, message: 4_000, fix: 2_048, link: 2_048, other: 1_024 } as const;
const mostEvents = 20;
const mostPods = 20;
const mostChanges = 50;
const mostDigested = 500;
/** What cleaning may take away of a text that is cut afterwards: more than this is not looked at. */
const spare = 4;

/**
 * The message with texts that any receiver may show: no terminal sequences, no control characters, none that turn the direction of
 * what is read, each text within a bound; of the log the end is kept. Secrets are blotted out before, where texts are taken.
 *
 * @param maxLogBytes bound of the log, bytes of UTF-8
 */
export function toSafeMessage(message: Message, maxLogBytes = mostLogBytes): Message {
  if (message.kind === 'test') {
    return { kind: 'test', data: { ...plain(message.data), message: text(message.data.message, most.message) } };
  }
  if (message.kind === 'drill') {
    const { links, ...data } = message.data;
    const safe = { ...plain(data), message: text(data.message, most.message) };
    return { kind: 'drill', data: { ...safe, links: { drill: whole(links.drill), channel: whole(links.channel) } } };
  }
  if (message.kind === 'digest') {
    const { digest } = message.data;
    const alerts = digest.alerts.slice(0, mostDigested);
    return { kind: 'digest', data: plain({ ...message.data, digest: { ...digest, alerts } }) };
  }
  return { kind: message.kind, data: safeAlert(message.data, maxLogBytes) };
}

/** The form for a receiver that refused the whole one: what it is about, without logs, events, pods and other details. */
export function withoutDetails(message: Message): Message {
  if (message.kind === 'test' || message.kind === 'drill') return message;
  if (message.kind === 'digest') {
    const { data } = message;
    return { kind: 'digest', data: { ...data, digest: { ...data.digest, alerts: [] } } };
  }
  const { data } = message;
  const context: MessageContext = {
    pending: data.context.pending,
    suggestedFix: data.context.suggestedFix,
    logs: null,
    logsTruncated: false,
    logsUnavailable: null,
    events: null,
    pods: null,
    changes: null,
  };
  return { kind: message.kind, data: { ...data, context } };
}

function safeAlert(data: AlertMessage, maxLogBytes: number): AlertMessage {
  const { alert, context, links, ...others } = data;
  return {
    ...plain(others),
    alert: { ...plain(alert), title: line(alert.title, most.title), message: text(alert.message, most.message) },
    context: safeContext(context, maxLogBytes),
    links: safeLinks(links),
  };
}

function safeContext(context: MessageContext, maxLogBytes: number): MessageContext {
  const log = context.logs === null ? { text: null, isCut: false } : end(context.logs, maxLogBytes);
  const { events, pods, changes, ...others } = context;
  return {
    ...plain({ ...others, suggestedFix: null, logs: null }),
    suggestedFix: context.suggestedFix === null ? null : text(context.suggestedFix, most.fix),
    logs: log.text,
    logsTruncated: context.logsTruncated || log.isCut,
    // The newest are the last ones.
    events: plain(events?.slice(-mostEvents) ?? null),
    ...((events?.length ?? 0) > mostEvents && { eventsTruncated: true }),
    pods: plain(pods?.slice(-mostPods) ?? null),
    ...((pods?.length ?? 0) > mostPods && { podsTruncated: true }),
    changes: plain(changes?.slice(0, mostChanges) ?? null),
  };
}

function safeLinks(links: MessageLinks): MessageLinks {
  const { cronjob, alert, execution, runbook } = links;
  return { cronjob: whole(cronjob), alert: whole(alert), execution: whole(execution), runbook: whole(runbook) };
}

/** A link is whole or none. */
function whole(link: string | null): string | null {
  return link !== null && link.length <= most.link ? toPlainLine(link) : null;
}

/** Every text in it on one line and within the bound of texts without one of their own. */
function plain<Value>(value: Value): Value {
  return mapTexts(value, (one) => line(one, most.other)) as Value; // the same shape: only texts differ
}

function text(written: string, limit: number): string {
  return beginning(written, limit, toPlainText);
}

function line(written: string, limit: number): string {
  return beginning(written, limit, toPlainLine);
}

/** What was not looked at is cut too, however little is left of what was. */
function beginning(written: string, limit: number, toPlain: (text: string) => string): string {
  const isSeen = written.length <= spare * limit;
  const clean = toPlain(isSeen ? written : written.slice(0, spare * limit));
  return cutEnd(isSeen ? clean : `${clean}…`, limit);
}

/** Signs that no receiver may show are no part of a log: without them nothing is cut. */
function end(written: string, maxBytes: number): { readonly text: string; readonly isCut: boolean } {
  const seen = maxBytes === 0 ? '' : written.slice(-spare * maxBytes);
  const clean = toPlainText(seen);
  const kept = keepEnd(clean, maxBytes, inBytes);
  return { text: kept, isCut: seen.length < written.length || kept.length < clean.length };
}

/** The same value with other texts; names of fields stay. */
export function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, map)]));
}
