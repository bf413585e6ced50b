import { channelAfter, type ChannelAnswer, type ChannelHold, type Instant } from '../../domain/index.ts';
import { change, marks, type Row } from '../ask.ts';
import { cleanText, optionalNumber, optionalText, toJson } from '../column.ts';
import type { Tx } from '../database.ts';
import { rowsIn } from '../upsert.ts';

export interface ChannelSettled {
  readonly uid: string;
  readonly name: string;
  readonly failuresInRow: number;
  readonly hold: ChannelHold['hold'];
  /** Its hold began or ended now. */
  readonly holdChanged: boolean;
  /** The channel accepted a message after a failure or a hold. */
  readonly recovered: boolean;
}

/** One answer of a channel, as far as it moves the channel's row. */
interface AnswerOfChannel {
  /** As the database has it. */
  readonly uid: unknown;
  /** Totals that the answer changes; a drill is in no total. */
  readonly counts: 'test' | 'message' | 'nothing';
  readonly answer: ChannelAnswer;
  readonly error: string | undefined;
}

/**
 * Moves the figures of channels by answers, in their order, and their holds: what waited for a channel to be mended is ready again, what
 * cannot be sent waits. Tests and drills count among the failures in a row and in no total. One result for each answer: its channel after all.
 */
export async function settleChannels(tx: Tx, answers: readonly AnswerOfChannel[]): Promise<readonly ChannelSettled[]> {
  const byChannel = Map.groupBy(answers, ({ uid }) => tx.dialect.id16Text(uid));
  const uids = [...byChannel].map(([, [first]]) => first?.uid);
  const columns = 'uid, name, generation, hold, hold_until, hold_step, failures_in_row';
  const read = async (lock: string): Promise<ReadonlyMap<string, Row>> => {
    const found = await rowsIn(
      tx,
      uids,
      (values) => `select ${columns} from channels where uid in (${values}) order by uid${lock}`,
    );
    return new Map(found.map((row) => [tx.dialect.id16Text(row['uid']), row]));
  };
  // Messages are locked before channels, everywhere: those that move with a hold are moved first, by what a plain read says.
  const seen = await read('');
  for (const [uid, given] of byChannel) {
    const row = seen.get(uid);
    // Only where a hold begins or ends, which is rare.
    if (row !== undefined) await moveMessages(tx, row, given);
  }
  const locked = tx.dialect.isAlone ? seen : await read(tx.dialect.lock.update);
  const settled = new Map(
    [...byChannel].map(([uid, given]) => [uid, { given, ...foldAnswers(tx, uid, locked.get(uid), given) }]),
  );
  await writeAccepted(tx, [...settled.values()].filter(isPlain));
  for (const channel of settled.values()) {
    // Only channels that failed, were tested or were held.
    if (channel.row !== undefined && !isPlain(channel)) await writeChannel(tx, channel);
  }
  return answers.map(({ uid }) => {
    const channel = settled.get(tx.dialect.id16Text(uid));
    if (channel === undefined) throw new RangeError('each answer has a channel');
    return channel.result;
  });
}

interface Folded {
  /** Undefined: there is no such channel. */
  readonly row: Row | undefined;
  readonly after: ChannelHold;
  readonly result: ChannelSettled;
}

interface ChannelSettling extends Folded {
  readonly given: readonly AnswerOfChannel[];
}

function holdIn(row: Row): ChannelHold {
  return {
    hold: optionalText(row['hold']) as ChannelHold['hold'],
    untilAt: optionalNumber(row['hold_until']),
    step: Number(row['hold_step']),
    failuresInRow: Number(row['failures_in_row']),
  };
}

function afterAll(before: ChannelHold, given: readonly AnswerOfChannel[], now: Instant): ChannelHold {
  return given.reduce((hold, { answer }) => channelAfter(hold, answer, now), before);
}

function foldAnswers(tx: Tx, uid: string, row: Row | undefined, given: readonly AnswerOfChannel[]): Folded {
  const nobody: ChannelHold = { hold: undefined, untilAt: undefined, step: 0, failuresInRow: 0 };
  const before = row === undefined ? nobody : holdIn(row);
  const after = row === undefined ? nobody : afterAll(before, given, tx.now());
  const wasWell = before.hold === undefined && before.failuresInRow === 0;
  return {
    row,
    after,
    result: {
      uid,
      name: row === undefined ? '' : String(row['name']),
      failuresInRow: after.failuresInRow,
      hold: after.hold,
      holdChanged: after.hold !== before.hold,
      recovered: !wasWell && given.some(({ answer }) => answer === 'accepted'),
    },
  };
}

async function moveMessages(tx: Tx, row: Row, given: readonly AnswerOfChannel[]): Promise<void> {
  const now = tx.now();
  const before = holdIn(row);
  const after = afterAll(before, given, now);
  if (isToBeMended(after)) {
    // A parked channel sends no message before it is mended.
    if (given.every(({ answer }) => answer === 'harmless')) return;
    // A message that waits for its turn keeps its instant: else it would be due at once when the channel is mended.
    await change(
      tx,
      "update deliveries set state = 'parked', state_reason = null, next_at = null where channel_uid = ? and state = 'ready' and kind <> 'test' and coalesce(state_reason, '') <> 'after'",
      [row['uid']],
    );
    return;
  }
  const wasParked = isToBeMended(before) || given.some(({ answer }) => answer === 'park' || answer === 'invalid');
  if (wasParked) await updateMended(tx, row['uid'], now);
}

/** Makes messages that waited for the channel to be mended ready again. */
export async function updateMended(tx: Tx, channelUid: unknown, now: Instant): Promise<number> {
  return change(
    tx,
    "update deliveries set state = 'ready', state_reason = null, next_at = ? where channel_uid = ? and state = 'parked'",
    [now, channelUid],
  );
}

function isToBeMended({ hold }: ChannelHold): boolean {
  return hold === 'parked' || hold === 'invalid';
}

/** Whether the channel only accepted messages: such rows change alike, except for the count. */
function isPlain({ row, given }: ChannelSettling): boolean {
  return row !== undefined && given.every(({ answer, counts }) => answer === 'accepted' && counts === 'message');
}

async function writeAccepted(tx: Tx, channels: readonly ChannelSettling[]): Promise<void> {
  const now = tx.now();
  for (const [count, group] of Map.groupBy(channels, ({ given }) => given.length)) {
    const uids = group.map(({ row }) => row?.['uid']);
    // One or two counts: of one channel two messages are in flight at most.
    await change(
      tx,
      `update channels set hold = null, hold_until = null, hold_step = 0, failures_in_row = 0, sent_total = sent_total + ${count}, last_sent_at = ? where uid in (${marks(uids)})`,
      [now, ...uids],
    );
  }
}

async function writeChannel(tx: Tx, { row, given, after }: ChannelSettling): Promise<void> {
  const told = given.filter(({ answer }) => answer !== 'harmless');
  if (row === undefined || told.length === 0) return;
  const now = tx.now();
  const sets: string[] = ['hold = ?', 'hold_until = ?', 'hold_step = ?', 'failures_in_row = ?'];
  const bindings: unknown[] = [after.hold ?? null, after.untilAt ?? null, after.step, after.failuresInRow];
  const test = told.findLast(({ counts }) => counts === 'test');
  if (test !== undefined) {
    const success = test.answer === 'accepted';
    const message = cleanText(test.error ?? '', 1_000);
    sets.push('last_test_at = ?', 'last_test = ?');
    bindings.push(now, toJson({ success, message, generation: Number(row['generation']) }));
  }
  const messages = told.filter(({ counts }) => counts === 'message');
  const accepted = messages.filter(({ answer }) => answer === 'accepted').length;
  if (accepted > 0) {
    sets.push(`sent_total = sent_total + ${accepted}`, 'last_sent_at = ?');
    bindings.push(now);
  }
  const failed = messages.filter(({ answer }) => answer !== 'accepted');
  if (failed.length > 0) {
    sets.push(`failed_total = failed_total + ${failed.length}`, 'last_failed_at = ?', 'last_error = ?');
    bindings.push(now, cleanText(failed.at(-1)?.error ?? '', 1_000));
  }
  await change(tx, `update channels set ${sets.join(', ')} where uid = ?`, [...bindings, row['uid']]);
}
