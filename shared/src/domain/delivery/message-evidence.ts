import { attemptsIn, eventsIn, type Evidence, type KeptEvent } from '../execution/evidence.ts';
import type { Attempt } from '../execution/attempts.ts';
import type { MessageEvent, MessageEvidence, MessagePod } from './message.ts';

/** A message that says nothing of a run. */
export const noEvidence: MessageEvidence = {
  logs: null,
  logsTruncated: false,
  logsUnavailable: null,
  events: null,
  pods: null,
};

/**
 * Kept evidence in the form of a message. Several logs become one text, each under its name; that of `container` is the last, for the
 * end is what is kept.
 */
export function toMessageEvidence(pieces: readonly Evidence[], container?: string | null): MessageEvidence {
  const logs = pieces.filter(({ kind }) => kind === 'logs');
  const told = logs.filter(({ body }) => body !== undefined);
  const isLast = ({ name }: Evidence): boolean => containerOf(name) === container;
  const inOrder = [...told.filter((log) => !isLast(log)), ...told.filter(isLast)];
  const events = pieces.find(({ kind }) => kind === 'events');
  const attempts = pieces.find(({ kind }) => kind === 'attempts');
  return {
    logs: joinLogs(inOrder),
    logsTruncated: told.some(({ truncated }) => truncated),
    logsUnavailable: told.length === 0 ? (logs.at(-1)?.unavailable ?? null) : null,
    events: events === undefined ? null : toMessageEvents(eventsIn(pieces)),
    ...(events?.truncated === true && { eventsTruncated: true }),
    pods: attempts?.body === undefined ? null : toMessagePods(attemptsIn(pieces)),
  };
}

function joinLogs(logs: readonly Evidence[]): string | null {
  if (logs.length <= 1) return logs[0]?.body ?? null;
  return logs.map(({ name, body }) => `--- ${containerOf(name)} ---\n${(body ?? '').replace(/\n$/, '')}\n`).join('');
}

/** Logs are kept under `pod/container`. */
function containerOf(name: string): string {
  return name.split('/').at(-1) ?? name;
}

function toMessageEvents(events: readonly KeptEvent[]): MessageEvent[] {
  return events.map(({ at, type, reason, message, count }) => ({
    time: at === undefined ? null : new Date(at).toISOString(),
    type,
    reason,
    message,
    count,
  }));
}

export function toMessagePods(attempts: readonly Attempt[]): MessagePod[] {
  return attempts.map((attempt) => ({
    name: attempt.pod,
    phase: attempt.phase,
    reason: attempt.reason ?? attempt.containers.findLast(({ reason }) => reason !== undefined)?.reason ?? null,
    node: attempt.node ?? null,
  }));
}
