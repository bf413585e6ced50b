import type { ChannelAnswer, ChannelHour, DeliveryErrorCategory } from '@cronjob-monitor/shared/contract';
import type { Instant } from '@cronjob-monitor/shared/domain';
import { countAnswersByHour, listChannelAnswers, type Store } from '@cronjob-monitor/shared/store';
import { orNull, toWireInstant } from '../../wire-values.ts';

const hourMs = 3_600_000;
const shownHours = 24;
const shownAnswers = 20;

/** The last 24 hours, the one that runs included, each with what was answered in it. */
export async function readHours(
  store: Store,
  reader: Parameters<typeof countAnswersByHour>[1],
  now: Instant,
): Promise<readonly ChannelHour[]> {
  const firstAt = now - (now % hourMs) - (shownHours - 1) * hourMs;
  const counted = await countAnswersByHour(store, reader, firstAt);
  return Array.from({ length: shownHours }, (_, index) => {
    const fromAt = firstAt + index * hourMs;
    return { from: toWireInstant(fromAt), sent: 0, failed: 0, ...counted.get(fromAt) };
  });
}

/** The newest answers of its receiver. */
export async function readAnswers(
  store: Store,
  reader: Parameters<typeof listChannelAnswers>[1],
): Promise<readonly ChannelAnswer[]> {
  const lines = await listChannelAnswers(store, reader, shownAnswers);
  return lines.map((line) => ({
    at: toWireInstant(line.at),
    verdict: line.isAccepted ? 'accepted' : 'failed',
    category: orNull(line.category as DeliveryErrorCategory | undefined), // as it was settled
    httpStatus: orNull(line.httpStatus),
    ms: orNull(line.tookMs),
    times: line.times,
    kind: orNull(line.kind),
    alertId: orNull(line.alertId),
    cronjob: orNull(line.cronJob),
  }));
}
