import {
  judgingWordsOf,
  type CronJobFacts,
  type EarlierWords,
  type JudgingWords,
  type OwnSettings,
  type Said,
} from '../../domain/index.ts';
import { change, rows, type Row } from '../ask.ts';
import { fromJson, optionalText, toJson } from '../column.ts';
import type { Db, Tx } from '../database.ts';
import { rowsIn } from '../upsert.ts';

/** The column `declared`: what the annotations of a CronJob say, and its Namespace. */
interface Declared {
  readonly annotations?: Said['annotations'];
  readonly namespace?: Said;
}

/** Kubernetes gives every Namespace this label: it is put back when the column is read. */
const nameLabel = 'kubernetes.io/metadata.name';

/** Settings in a row by which its CronJob is judged, and earlier ones. */
export interface StoredWords {
  readonly words: JudgingWords;
  /** Oldest first. */
  readonly earlier: readonly EarlierWords[];
}

/** Of a row with `declared` and `earlier_words`. */
export function toStoredWords(row: Row): StoredWords {
  const { annotations, namespace } = (fromJson(row['declared']) ?? {}) as Declared;
  return { words: judgingWordsOf({ annotations }, namespace), earlier: toEarlierWords(row['earlier_words']) };
}

/** The column `earlier_words`, which projectCronJobs writes. */
export function toEarlierWords(value: unknown): readonly EarlierWords[] {
  return (fromJson(value) ?? []) as readonly EarlierWords[];
}

/** Null where neither says anything. */
export function toDeclared({ annotations }: Pick<CronJobFacts, 'annotations'>, ofNamespace: Said | undefined): unknown {
  const { [nameLabel]: _, ...labels } = ofNamespace?.labels ?? {};
  const said = { labels, annotations: ofNamespace?.annotations ?? {} };
  const saysNothing = Object.keys(labels).length + Object.keys(said.annotations).length === 0;
  if (annotations === undefined && saysNothing) return null;
  return toJson({ ...(annotations && { annotations }), ...(!saysNothing && { namespace: said }) } satisfies Declared);
}

/** Nothing but what they say of themselves is written of CronJobs that their owners have left out; one without a row stays without. */
export async function updateDeclared(
  tx: Tx,
  leftOut: readonly { readonly facts: CronJobFacts; readonly ofNamespace?: Said | undefined }[],
): Promise<void> {
  for (const { facts, ofNamespace } of leftOut) {
    const declared = toDeclared(facts, ofNamespace);
    const uid = tx.dialect.id16(facts.uid);
    await change(tx, 'update cronjobs set declared = ? where uid = ? and deleted_at is null', [declared, uid]);
  }
}

/** Settings of a CronJob and its Namespace as stored last; without a zone where the CronJob names no zone. */
export type StoredOwnSettings = Omit<OwnSettings, 'timeZone'> & {
  readonly cronJobId: number;
  readonly timeZone: string | undefined;
};

const selected = 'select id, namespace, name, time_zone, labels, declared from cronjobs';

/** Of these CronJobs, or of all that are there. */
export async function listOwnSettings(db: Db, cronJobIds?: readonly number[]): Promise<StoredOwnSettings[]> {
  const found = cronJobIds
    ? await rowsIn(db, cronJobIds, (marks) => `${selected} where id in (${marks})`)
    : await rows(db, `${selected} where deleted_at is null`);
  return found.map(toOwnSettings);
}

/** Of a row of CronJobs with its namespace, name, zone, labels and what is declared. */
export function toOwnSettings(row: Row): StoredOwnSettings {
  // projectCronJobs writes both.
  const { annotations = {}, namespace: of } = (fromJson(row['declared']) ?? {}) as Declared;
  const namespace = String(row['namespace']);
  return {
    cronJobId: Number(row['id']),
    namespace,
    name: String(row['name']),
    timeZone: optionalText(row['time_zone']),
    cronJob: { labels: (fromJson(row['labels']) ?? {}) as Said['labels'], annotations },
    ofNamespace: { labels: { ...of?.labels, [nameLabel]: namespace }, annotations: of?.annotations ?? {} },
  };
}
