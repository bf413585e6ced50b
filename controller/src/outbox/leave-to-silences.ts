import { isInForce, matches, silenceOf, type MutableAlert } from '@cronjob-monitor/shared/domain';
import { listSilences, lockWaitingMessages, type Tx, type UntoldMessage } from '@cronjob-monitor/shared/store';
import { takeBack, type TakenBack } from './take-back.ts';

/** When each silence in force was edited last, by id. */
type SilencesSeen = ReadonlyMap<string, number>;

/**
 * A person silences what waits to be told, for the limit of its channel or for the channel itself: it is taken back before it leaves, and is
 * told when the silence ends, if it is so still. Asked of the silences that are not `seen`. Returns those of now, to be seen after the commit.
 */
export async function leaveToSilences(
  tx: Tx,
  seen: SilencesSeen,
): Promise<{ readonly left: readonly TakenBack[]; readonly seen: SilencesSeen }> {
  const now = tx.now();
  const inForce = (await listSilences(tx, now)).filter((silence) => isInForce(silence, now));
  const news = inForce.filter(({ id, updatedAt }) => seen.get(id) !== updatedAt);
  const left: TakenBack[] = [];
  // A message that is taken back may make way for that of another monitor, which is asked about too.
  for (let isMore = news.length > 0; isMore;) {
    const waiting = await lockWaitingMessages(tx, (message) =>
      news.some(({ matcher }) => matches(matcher, alertOf(message))),
    );
    const before = left.length;
    for (const message of new Map(waiting.map((one) => [one.alertId, one])).values()) {
      const silence = silenceOf(alertOf(message), inForce, now);
      // They are few, and share a connection.
      if (silence) left.push(...(await takeBack(tx, message, { reason: 'silence', ref: silence.id })));
    }
    isMore = left.length > before;
  }
  return { left, seen: new Map(inForce.map(({ id, updatedAt }) => [id, updatedAt])) };
}

const alertOf = ({ alertId: id, cronJob, type, severity, monitor }: UntoldMessage): MutableAlert => ({
  id,
  namespace: cronJob.namespace,
  cronJobName: cronJob.name,
  type,
  severity,
  monitor,
});
