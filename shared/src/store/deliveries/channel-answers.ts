import type { DeliveryKind, Ref } from '../../contract/index.ts';
import { type FrozenMessage, type Instant, hourMs } from '../../domain/index.ts';
import { firstRow, marks, rows } from '../ask.ts';
import { fromJson, optionalNumber, optionalText } from '../column.ts';
import type { Db } from '../database.ts';

/** What a receiver answered to one attempt, or to several equal ones. */
interface ChannelAnswerLine {
  readonly isAccepted: boolean;
  /** Undefined: no HTTP was spoken, or it did not answer. */
  readonly httpStatus: number | undefined;
  /** Category of the error; undefined: it was accepted. */
  readonly category: string | undefined;
  readonly at: Instant;
  readonly times: number;
  /** How long the attempt took, the first of several; undefined: nothing was tried, or it was not measured. */
  readonly tookMs: number | undefined;
  readonly kind: DeliveryKind | undefined;
  /** Undefined: a test, a digest or a drill. */
  readonly alertId: string | undefined;
  readonly cronJob: Ref | undefined;
}

/** Whose messages a caller may see; no namespace named: all, and what is about no alert. */
interface ChannelReader {
  readonly channelUid: string;
  readonly namespaces: readonly string[];
}

const answers = "d.action in ('sent', 'attemptFailed')";
const fromAnswers =
  'from alert_decisions d left join alerts a on a.id = d.alert_id left join deliveries m on m.id = d.delivery_id ';

/** The newest answers of a channel's receiver first. */
export async function listChannelAnswers(db: Db, of: ChannelReader, limit: number): Promise<ChannelAnswerLine[]> {
  const found = await rows(
    db,
    'select d.action, d.reason, d.detail, d.last_at, d.times, d.took_ms, d.alert_id, m.kind, a.namespace, a.cronjob_name ' +
      fromAnswers +
      `where d.channel_uid = ? and ${answers}${ofNamespaces(of)} order by d.id desc limit ${limit}`,
    [db.dialect.id16(of.channelUid), ...of.namespaces],
  );
  return found.map((row) => {
    const isAccepted = row['action'] === 'sent';
    const namespace = optionalText(row['namespace']);
    return {
      isAccepted,
      httpStatus: statusIn(optionalText(row[isAccepted ? 'reason' : 'detail'])),
      category: isAccepted ? undefined : optionalText(row['reason']),
      at: Number(row['last_at']),
      times: Number(row['times']),
      tookMs: optionalNumber(row['took_ms']),
      kind: optionalText(row['kind']) as DeliveryKind | undefined, // as it was inserted
      alertId: row['alert_id'] === null ? undefined : db.dialect.id16Text(row['alert_id']),
      cronJob: namespace === undefined ? undefined : { namespace, name: String(row['cronjob_name']) },
    };
  });
}

/** As the settling of a message writes it: `200`, or `500: what it means`. */
function statusIn(text: string | undefined): number | undefined {
  const [, digits] = /^(\d{3})(?::|$)/.exec(text ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Accepted and refused attempts of each hour since `sinceAt` that had any, by the beginning of the hour; drills are in no figure. */
export async function countAnswersByHour(
  db: Db,
  of: ChannelReader,
  sinceAt: Instant,
): Promise<ReadonlyMap<Instant, { readonly sent: number; readonly failed: number }>> {
  const hour = `d.last_at - d.last_at % ${hourMs}`;
  const sum = (action: string): string => `sum(case when d.action = '${action}' then d.times else 0 end)`;
  const found = await rows(
    db,
    `select ${hour} as hour_at, ${sum('sent')} as sent, ${sum('attemptFailed')} as failed ` +
      fromAnswers +
      `where d.channel_uid = ? and ${answers} and d.last_at >= ? and coalesce(m.kind, '') <> 'drill'${ofNamespaces(of)} ` +
      `group by ${hour}`,
    [db.dialect.id16(of.channelUid), sinceAt, ...of.namespaces],
  );
  return new Map(
    found.map((row) => [Number(row['hour_at']), { sent: Number(row['sent']), failed: Number(row['failed']) }]),
  );
}

/** A message as it is frozen, with the keys that its sending adds. */
interface NewestMessage {
  readonly deliveryId: string;
  readonly streamId: string;
  readonly createdAt: Instant;
  readonly payload: FrozenMessage;
}

/** The newest message to a channel; undefined: there is none, or what it said is gone. */
export async function findNewestMessage(db: Db, of: ChannelReader): Promise<NewestMessage | undefined> {
  const row = await firstRow(
    db,
    'select d.id, d.stream_id, d.created_at, d.payload from deliveries d left join alerts a on a.id = d.alert_id ' +
      `where d.channel_uid = ? and d.payload is not null${ofNamespaces(of)} order by d.created_at desc, d.id desc limit 1`,
    [db.dialect.id16(of.channelUid), ...of.namespaces],
  );
  const payload = row && (fromJson(row['payload']) as FrozenMessage | undefined); // written as it was frozen
  if (!row || !payload) return undefined;
  return {
    deliveryId: db.dialect.id16Text(row['id']),
    streamId: db.dialect.id16Text(row['stream_id']),
    createdAt: Number(row['created_at']),
    payload,
  };
}

function ofNamespaces({ namespaces }: ChannelReader): string {
  return namespaces.length === 0 ? '' : ` and a.namespace in (${marks(namespaces)})`;
}
