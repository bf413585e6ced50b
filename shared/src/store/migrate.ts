import { change, execute, firstRow, rows } from './ask.ts';
import { relistAll } from './catalog/cronjob-list.ts';
import { optionalNumber } from './column.ts';
import type { Db, Store } from './database.ts';
import { clientOf, retireConnection } from './dialect/connection.ts';
import { migrations, oldestUsableSchema, schemaNumber } from './migrations/index.ts';
import { cronJobListing } from './migrations/0010-cronjob-list.ts';
import { checksumOf, type Migration, type Step } from './migrations/migration.ts';
import { createTable, optional, required } from './migrations/table.ts';
import { StoreError } from './store-error.ts';

/** How the schema compares with this program's. */
export type SchemaState =
  | { readonly state: 'ready'; readonly version: number; readonly supported: number }
  /** Older than this program needs: the leader migrates. */
  | { readonly state: 'migrating'; readonly version: number; readonly supported: number }
  /** A newer release made it, and it says that this program may not use it. */
  | { readonly state: 'tooNew'; readonly version: number; readonly supported: number; readonly sentence: string };

/** One step of the schema that was made, as the log tells it. */
interface AppliedStep {
  readonly version: number;
  readonly step: string;
}

const tryLockEveryMs = 500;
/** Longest wait for a table that others use, and for one statement of a step. */
const lockTries = 20;
const stepLimitMs = 600_000;

/** Tables that record the steps. They exist before the first step, so no step makes them. */
const journalTables = [
  {
    name: 'schema_version',
    columns: {
      version: required('int'),
      name: required({ text: 64 }),
      checksum: required({ text: 64 }),
      app_version: required({ text: 64 }),
      readable_from: required('int'),
      applied_at: required('bigint'),
    },
    primaryKey: ['version'],
  },
  {
    name: 'schema_steps',
    columns: {
      version: required('int'),
      step: required({ text: 128 }),
      started_at: required('bigint'),
      done_at: optional('bigint'),
    },
    primaryKey: ['version', 'step'],
  },
] as const;

/** Brings the schema to this program's version. Safe to call from several processes at once; returns what it applied. */
export async function migrate(
  store: Store,
  app: { readonly version: string },
): Promise<{ readonly from: number; readonly to: number; readonly applied: readonly string[] }> {
  const made: AppliedStep[] = [];
  let lasts = !store.dialect.migration.isOneTransaction;
  try {
    const result = await underLock(store, (db) => bringForward(store, db, app, (step) => made.push(step)));
    lasts = true;
    return result;
  } finally {
    // Steps that were rolled back with the lock have not been made.
    if (lasts) for (const step of made) store.log.info('The schema was brought forward', { ...step });
  }
}

/** The same for a process that holds the lock already, on the connection that holds it. */
export async function bringForward(
  store: Store,
  db: Db,
  app: { readonly version: string },
  onApplied: (step: AppliedStep) => void = () => {},
): Promise<{ readonly from: number; readonly to: number; readonly applied: readonly string[] }> {
  for (const table of journalTables) {
    for (const statement of createTable(table, db.dialect)) await runStep(store, db, [statement]);
  }
  const done = await listApplied(db);
  refuseWhatIsNotOurs(done, db);

  const pending = migrations.filter(({ version }) => !done.some((row) => row.version === version));
  for (const migration of pending) {
    await apply(store, db, migration, app.version);
    onApplied({ version: migration.version, step: migration.name });
  }
  // Once every step is made it may ask of all tables what this release keeps in them. A process can die before it has ended: the leader writes the
  // same at the start of each term.
  if (pending.includes(cronJobListing)) await relistAll(db);
  const from = done.at(-1)?.version ?? 0;
  return { from, to: pending.at(-1)?.version ?? from, applied: pending.map(({ name }) => name) };
}

/** Whether this program may read and write the schema as it is now. Throws `StoreError` while the database is away. */
export async function getSchemaState(store: Store): Promise<SchemaState> {
  const applied = await listAppliedIfAny(store);
  const newest = applied.at(-1);
  const version = newest?.version ?? 0;
  const readableFrom = newest?.readableFrom ?? 0;
  store.observer?.schemaFound(version);
  if (readableFrom > schemaNumber) {
    const sentence = version === copyMarker.version ? copyUnfinished : tooNewSentence(version, readableFrom);
    return { state: 'tooNew', version, supported: schemaNumber, sentence };
  }
  return { state: version >= oldestUsableSchema ? 'ready' : 'migrating', version, supported: schemaNumber };
}

/** When the schema was first made: the birthday of this installation. Undefined before. Throws `StoreError` while the database is away. */
export async function findInstalledAt(db: Db): Promise<number | undefined> {
  const row = await firstRow(db, 'select min(applied_at) as at from schema_version');
  return optionalNumber(row?.['at']);
}

interface Applied {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  readonly appVersion: string;
  readonly readableFrom: number;
}

/** None in a database that was not migrated yet. */
async function listAppliedIfAny(db: Db): Promise<Applied[]> {
  return listApplied(db).catch((error: unknown) => {
    if (error instanceof StoreError && error.code === 'schema') return [];
    throw error;
  });
}

async function listApplied(db: Db): Promise<Applied[]> {
  const found = await rows(
    db,
    'select version, name, checksum, app_version, readable_from from schema_version order by version',
  );
  return found.map((row) => ({
    version: Number(row['version']),
    name: String(row['name']),
    checksum: String(row['checksum']),
    appVersion: String(row['app_version']),
    readableFrom: Number(row['readable_from']),
  }));
}

/** Throws `StoreError` for a database whose schema is not the one that this program makes, to the step. */
export async function refuseOtherSchema(db: Db): Promise<void> {
  const applied = await listAppliedIfAny(db);
  refuseWhatIsNotOurs(applied, db);
  const version = applied.at(-1)?.version ?? 0;
  if (version === schemaNumber) return;
  const sentence =
    version === 0
      ? 'it holds no schema of ours: is it the file of the service?'
      : `it has schema ${version} and this program writes ${schemaNumber}: let the release of this program serve it once`;
  throw new StoreError('schema', sentence);
}

/** A schema from a later release that shuts us out, or one whose steps are not the ones we know. */
function refuseWhatIsNotOurs(applied: readonly Applied[], db: Db): void {
  const newest = applied.at(-1);
  if (newest?.version === copyMarker.version) throw new StoreError('schema', copyUnfinished);
  if (newest !== undefined && newest.readableFrom > schemaNumber) {
    throw new StoreError('schema', tooNewSentence(newest.version, newest.readableFrom));
  }
  for (const row of applied) {
    const ours = migrations.find(({ version }) => version === row.version);
    if (ours !== undefined && checksumOf(ours, db.dialect) !== row.checksum) {
      throw new StoreError(
        'schema',
        `schema step ${row.version} was made by another program (version ${row.appVersion}); use a database of its own`,
      );
    }
  }
}

function tooNewSentence(version: number, readableFrom: number): string {
  return `the database has schema ${version}, made by a later release, which programs below schema ${readableFrom} may not use; this one has ${schemaNumber}: start the later release`;
}

async function apply(store: Store, db: Db, migration: Migration, appVersion: string): Promise<void> {
  const { version, name, readableFrom } = migration;
  const journal = await rows(db, 'select step from schema_steps where version = ? and done_at is not null', [version]);
  const done = new Set(journal.map((row) => row['step']));
  // Each step builds on the one before.
  for (const step of migration.steps) if (!done.has(step.name)) await applyStep(store, db, version, step);

  await change(
    db,
    `insert into schema_version (version, name, checksum, app_version, readable_from, applied_at)
     values (?, ?, ?, ?, ?, ?)${db.dialect.ifAbsent(['version'])}`,
    [version, name, checksumOf(migration, db.dialect), appVersion, readableFrom, store.now()],
  );
}

async function applyStep(store: Store, db: Db, version: number, step: Step): Promise<void> {
  const { dialect } = db;
  await change(
    db,
    `insert into schema_steps (version, step, started_at) values (?, ?, ?)${dialect.ifAbsent(['version', 'step'])}`,
    [version, step.name, store.now()],
  );
  await runStep(store, db, step.statements(dialect), step.isAlone);
  await change(db, 'update schema_steps set done_at = ? where version = ? and step = ?', [
    store.now(),
    version,
    step.name,
  ]);
}

/** The statements of one step, repeated as a whole while a table they need is in use. */
async function runStep(store: Store, db: Db, statements: readonly string[], isAlone = false): Promise<void> {
  const none = { beginStep: '', endStep: '', undoStep: '' };
  const { beginStep, endStep, undoStep } = isAlone ? none : db.dialect.migration;
  for (let tries = 1; ; tries++) {
    try {
      for (const statement of [beginStep, ...statements, endStep]) {
        if (statement !== '') await execute(db, statement, stepLimitMs);
      }
      return;
    } catch (error) {
      // The first error counts; a rollback that fails ends with the connection.
      if (undoStep !== '') await execute(db, undoStep, stepLimitMs).catch(() => {});
      if (!(error instanceof StoreError && error.retryable) || tries === lockTries) throw error;
      await store.clock.sleep(tryLockEveryMs);
    }
  }
}

/**
 * Runs `fn` on one connection that holds the lock. The connection is closed afterwards where its limits were changed. `most`: how
 * often the lock is asked for before `StoreError` `busy`; without end where its holder does the same work.
 */
export async function underLock<T>(store: Store, fn: (db: Db) => Promise<T>, most = Infinity): Promise<T> {
  const client = clientOf(store.sql);
  const { migration } = store.dialect;
  const connection = await client.acquireConnection();
  const db: Db = {
    sql: store.sql,
    dialect: store.dialect,
    troubles: store.troubles,
    connection,
    now: () => store.now(),
  };
  let failed = true;
  try {
    if (migration.session !== '') await execute(db, migration.session, stepLimitMs);
    if (migration.makeSchema !== '') await execute(db, migration.makeSchema, stepLimitMs);
    for (let tries = 1; !(await migration.tryLock(db)); tries++) {
      if (tries >= most) throw new StoreError('busy', 'another process changes the schema, or copies into it');
      await store.clock.sleep(tryLockEveryMs);
    }
    try {
      const result = await fn(db);
      failed = false;
      return result;
    } finally {
      // A lock that cannot be given back ends with the connection.
      await migration.unlock(db, failed).catch((error: unknown) => {
        if (!failed) throw error;
      });
    }
  } finally {
    if (migration.session !== '') retireConnection(connection); // its limits are those of a migration
    await client.releaseConnection(connection);
  }
}

/**
 * A row of `schema_version` that stands while rows are copied into a database. It looks like a schema that no program may use yet, so
 * that every release, also one that knows nothing of copies, refuses to start on what is half there.
 */
export const copyMarker = {
  version: 1_000_000,
  name: 'copy under way',
  checksum: 'none',
  readableFrom: 1_000_000,
} as const;

/** The sentence of a process that finds the marker. */
const copyUnfinished =
  'a copy into this database was begun and has not ended: let it end, run cronjob-monitor copy again, or use another database';
