import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Evidence, EvidenceKind, Instant } from '../domain/index.ts';
import { change, inParts, insertRows, marks, rows, type Row } from './ask.ts';
import { cronJobIdsOf, lockCronJobs } from './catalog/cron-job-ids.ts';
import { cleanText, optionalCleanText, optionalText } from './column.ts';
import type { Db, Store, Tx } from './database.ts';
import { toId16 } from './id16.ts';
import { changeIn, quoted, rowsIn } from './upsert.ts';
import { flagBits, statusWords } from './words.ts';

export { type Evidence } from '../domain/index.ts';

/** Below this size packing gains nothing. */
const plainBelowBytes = 512;
const packedAtOnce = 16;
const pack = promisify(gzip);
const unpack = promisify(gunzip);

/** Of a row that `toEvidence` reads, besides `uid_text` of its CronJob. */
export const evidenceColumns = [
  'owner',
  'kind',
  'name',
  'cronjob_id',
  'created_at',
  'captured_at',
  'encoding',
  'bytes',
  'truncated',
  'unavailable',
  'body',
] as const;

/** Packed bytes of one transaction: beyond it the rest goes into another. */
const mostTogetherBytes = 4 * 1024 * 1024;

/**
 * Keeps evidence, in transactions of its own after its executions: a blob never fails a fact. The first capture with a body stays; one that
 * only said why there is none gives way to it. Returns how many rows were written.
 */
export async function putEvidence(store: Store, epoch: number, evidence: readonly Evidence[]): Promise<number> {
  let written = 0;
  for (const part of inPartsOf(await packEvidence(evidence), mostTogetherBytes)) {
    written += await store.fenced(epoch, (tx) => putPieces(tx, part));
  }
  return written;
}

async function putPieces(tx: Tx, pieces: PackedEvidence): Promise<number> {
  if (pieces.length === 0) return 0;
  const ids = await cronJobIdsOf(tx, [...new Set(pieces.map(([{ cronJobUid }]) => cronJobUid))]);
  // As every writer of history does, in the order of all: a deletion and a late capture must not meet half-way.
  await lockCronJobs(tx, [...ids.values()]);
  const present = await listPresent(tx, [...new Set(pieces.map(([{ owner }]) => toId16(owner)))]);
  const chosen = new Map<string, PieceToWrite>();
  let written = 0;
  for (const [piece, packed] of pieces) {
    const cronJobId = ids.get(piece.cronJobUid);
    const owner = toId16(piece.owner);
    const name = cleanText(piece.name, 253);
    const key = keyOf(owner, piece.kind, name);
    const before = present.get(key);
    const isWanted = before === undefined || (before === 'empty' && packed.bytes !== null);
    // Without a CronJob that is locked its history is gone.
    if (cronJobId === undefined || !isWanted) continue;
    const replaces = before !== undefined && !chosen.has(key);
    chosen.set(key, {
      piece,
      packed,
      owner,
      name,
      cronJobId,
      replaces: replaces || chosen.get(key)?.replaces === true,
    });
    present.set(key, packed.bytes === null ? 'empty' : 'filled');
    written++;
  }
  await writePieces(tx, [...chosen.values()]);
  return written;
}

interface PieceToWrite {
  readonly piece: Evidence;
  readonly packed: PackedBody;
  readonly owner: string;
  readonly name: string;
  readonly cronJobId: number;
  /** A row that says only why there is nothing is there. */
  readonly replaces: boolean;
}

const keyOf = (owner: string, kind: unknown, name: unknown): string => `${owner} ${String(kind)} ${String(name)}`;

/** What is kept of these owners, by `keyOf`: with a body, or only why there is none. */
async function listPresent(tx: Tx, owners: readonly string[]): Promise<Map<string, 'filled' | 'empty'>> {
  const found = await rowsIn(
    tx,
    owners.map((owner) => tx.dialect.id16(owner)),
    (marks) =>
      `select owner, kind, name, case when body is null then 0 else 1 end as filled from evidence where owner in (${marks})`,
  );
  return new Map(
    found.map((row) => [
      keyOf(tx.dialect.id16Text(row['owner']), row['kind'], row['name']),
      Number(row['filled']) === 1 ? 'filled' : 'empty',
    ]),
  );
}

async function writePieces(tx: Tx, pieces: readonly PieceToWrite[]): Promise<void> {
  for (const { piece, owner, name, replaces } of pieces) {
    const key = [tx.dialect.id16(owner), piece.kind, name];
    if (replaces) await change(tx, 'delete from evidence where owner = ? and kind = ? and name = ?', key);
  }
  await insertRows(tx, {
    table: 'evidence',
    columns: evidenceColumns,
    rows: pieces.map(({ piece, packed, owner, name, cronJobId }) => [
      tx.dialect.id16(owner),
      piece.kind,
      name,
      cronJobId,
      piece.createdAt,
      piece.capturedAt,
      packed.encoding,
      packed.size,
      Number(piece.truncated),
      optionalCleanText(piece.unavailable, 32),
      packed.bytes,
    ]),
  });
  // The run says that it has logs or events, so that lists need not look.
  for (const [kind, bit] of [['logs', flagBits.hasLogs] as const, ['events', flagBits.hasEvents] as const]) {
    const owners = pieces.filter(({ piece, packed }) => piece.kind === kind && packed.bytes !== null);
    await changeIn(
      tx,
      [...new Set(owners.map(({ owner }) => owner))].map((owner) => tx.dialect.id16(owner)),
      (marks) => `update executions set flags = flags | ${bit} where job_uid in (${marks})`,
    );
  }
}

function inPartsOf(pieces: PackedEvidence, mostBytes: number): PackedEvidence[] {
  const parts: PackedEvidence[number][][] = [];
  let bytes = Infinity;
  for (const piece of pieces) {
    const size = piece[1].bytes?.length ?? 0;
    if (bytes + size > mostBytes) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(piece);
    bytes += size;
  }
  return parts;
}

/** Evidence as it is kept: packed before the transaction that writes it. */
export type PackedEvidence = readonly (readonly [Evidence, PackedBody])[];

export async function packEvidence(evidence: readonly Evidence[]): Promise<PackedEvidence> {
  const packed: (readonly [Evidence, PackedBody])[] = [];
  // A busy loop hears late of each that is packed: some at once, for each takes memory meanwhile.
  for (const part of inParts(evidence, packedAtOnce))
    packed.push(...(await Promise.all(part.map(async (piece) => [piece, await packBody(piece.body)] as const))));
  return packed;
}

/**
 * Keeps the evidence of these owners instead of all that was kept of them: an alert that goes on speaks of its newest run. The rows of the
 * CronJobs are to be locked before.
 */
export async function replaceEvidence(tx: Tx, owners: readonly string[], evidence: PackedEvidence): Promise<void> {
  const ids = owners.map((owner) => tx.dialect.id16(owner));
  await changeIn(tx, ids, (marks) => `delete from evidence where owner in (${marks})`);
  for (const part of inPartsOf(evidence, mostTogetherBytes)) await putPieces(tx, part);
}

/** Everything kept about one run or alert, bodies unpacked. */
export async function listEvidence(db: Db, owner: string): Promise<Evidence[]> {
  const found = await rows(db, `${select} where e.owner = ? order by e.kind, e.name`, [db.dialect.id16(owner)]);
  return Promise.all(found.map((row) => toEvidence(db, row)));
}

/** What is kept of these kinds about many owners, by one question: by owner, those without any left out. */
export async function listEvidenceOf(
  db: Db,
  owners: readonly string[],
  kinds: readonly EvidenceKind[],
): Promise<ReadonlyMap<string, readonly Evidence[]>> {
  if (owners.length === 0) return new Map();
  const ids = owners.map((owner) => db.dialect.id16(owner));
  const found = await rowsIn(
    db,
    ids,
    (owned) => `${select} where e.kind in (${marks(kinds)}) and e.owner in (${owned}) order by e.kind, e.name`,
    kinds,
  );
  const pieces = await Promise.all(found.map((row) => toEvidence(db, row)));
  return Map.groupBy(pieces, ({ owner }) => owner);
}

/** The kept decisive lines of failed runs of these CronJobs whose Job was created until then, newest first, `most` at most. */
export async function listDecisiveLines(
  db: Db,
  cronJobIds: readonly number[],
  createdUntil: Instant,
  most: number,
): Promise<{ readonly endedAt: Instant; readonly body: string }[]> {
  const found = await rows(
    db,
    `select ${quoted(evidenceColumns, 'e')}, c.uid_text, coalesce(x.finished_at, x.created_at) as ended_at from executions x ` +
      `join evidence e on e.owner = x.job_uid and e.kind = 'decisive' join cronjobs c on c.id = e.cronjob_id ` +
      `where x.cronjob_id in (${marks(cronJobIds)}) and x.status = ? and x.created_at <= ? ` +
      `order by x.created_at desc limit ${Math.trunc(most)}`,
    [...cronJobIds, statusWords.toNumber('failed'), createdUntil],
  );
  return Promise.all(
    found.map(async (row) => ({ endedAt: Number(row['ended_at']), body: (await toEvidence(db, row)).body ?? '[]' })),
  );
}

const select = `select ${quoted(evidenceColumns, 'e')}, c.uid_text from evidence e join cronjobs c on c.id = e.cronjob_id`;

interface PackedBody {
  readonly encoding: 'plain' | 'gzip';
  readonly bytes: Buffer | null;
  /** Size before packing. */
  readonly size: number;
}

async function packBody(body: string | undefined): Promise<PackedBody> {
  if (body === undefined) return { encoding: 'plain', bytes: null, size: 0 };
  const plain = Buffer.from(body.toWellFormed(), 'utf8');
  const size = plain.length;
  return size < plainBelowBytes
    ? { encoding: 'plain', bytes: plain, size }
    : { encoding: 'gzip', bytes: await pack(plain), size };
}

export async function toEvidence(db: Db, row: Row): Promise<Evidence> {
  // The driver gives bytes; what kind of view it is differs.
  const body = row['body'] as Uint8Array | null;
  const text = body === null ? undefined : row['encoding'] === 'gzip' ? await unpack(body) : Buffer.from(body);
  return {
    owner: db.dialect.id16Text(row['owner']),
    // Written from the same type.
    kind: String(row['kind']) as EvidenceKind,
    name: String(row['name']),
    cronJobUid: String(row['uid_text']),
    createdAt: Number(row['created_at']),
    capturedAt: Number(row['captured_at']),
    body: text?.toString('utf8'),
    truncated: Number(row['truncated']) === 1,
    unavailable: optionalText(row['unavailable']),
  };
}
