import type { Knex } from 'knex';
import type { Clock } from '../process/index.ts';
import type { AskTogether } from './database.ts';
import { clientOf } from './dialect/connection.ts';
import type { Dialect } from './dialect/dialect.ts';
import type { StoreObserver } from './observer.ts';
import { StoreError } from './store-error.ts';

/**
 * A list of many clusters asks each schema the same questions at the same moment. Those that differ by their schema alone travel as one
 * statement, so that such a list takes as many statements for all that are asked at once as for two.
 */

type Rows = Awaited<ReturnType<AskTogether>>;

interface Question {
  readonly schema: string;
  readonly sql: string;
  readonly bindings: readonly unknown[];
  readonly alone: () => Promise<Rows>;
  readonly answered: PromiseWithResolvers<Rows>;
}

/** A statement of many is waited for so long; then each of its schemas is asked by itself, and one that is stuck delays itself alone. */
const jointMs = 1_000;
/** PostgreSQL takes 65,535 values in one statement. */
const mostBindings = 30_000;
const mostSchemas = 250;

/**
 * Connections that joint statements run on are in this schema: it is in every server and has no table of ours, so that a table whose schema was
 * not written into the statement is an error and never a row of another cluster.
 */
export const neutralSchema = 'information_schema';

interface JointParts {
  readonly dialect: Pick<Dialect, 'rowsOf'>;
  readonly clock: Clock;
  readonly observer?: StoreObserver | undefined;
  /** Connections in the neutral schema. Throws `StoreError` once everything is closed. */
  readonly sql: () => Knex;
}

export class JointQuestions {
  readonly #deps: JointParts;
  readonly #waiting = new Map<string, Question[]>();
  /** Texts that the server takes of one schema and not of many. */
  readonly #apart = new Set<string>();

  constructor(deps: JointParts) {
    this.#deps = deps;
  }

  /** Has questions of this schema wait for those of others that come in the same turn of the loop. */
  of(schema: string): AskTogether {
    return (sql, bindings, alone) => {
      const key = keyOf(sql);
      if (!isJoinable(sql) || this.#apart.has(key)) return alone();
      const answered = Promise.withResolvers<Rows>();
      if (this.#waiting.size === 0) setImmediate(() => this.#send());
      const same = this.#waiting.get(key) ?? [];
      same.push({ schema, sql, bindings, alone, answered });
      this.#waiting.set(key, same);
      return answered.promise;
    };
  }

  #send(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const [key, questions] of waiting) for (const part of inStatements(questions)) void this.#answer(key, part);
  }

  async #answer(key: string, questions: readonly Question[]): Promise<void> {
    const [first] = questions;
    if (questions.length === 1 && first) {
      first.alone().then(first.answered.resolve, first.answered.reject);
      return;
    }
    try {
      const answers = await this.#ask(questions);
      for (const [index, { answered }] of questions.entries()) answered.resolve(answers[index] ?? []);
    } catch (error) {
      const alone = questions.map((question) => question.alone());
      for (const [index, { answered }] of questions.entries()) alone[index]?.then(answered.resolve, answered.reject);
      const isOfText = error instanceof StoreError && !passing.has(error.code);
      const ends = await Promise.allSettled(alone);
      if (isOfText && ends.every(({ status }) => status === 'fulfilled')) this.#apart.add(key);
    }
  }

  async #ask(questions: readonly Question[]): Promise<Rows[]> {
    const { dialect, clock, observer } = this.#deps;
    const client = clientOf(this.#deps.sql());
    const sql = questions
      .map((question, index) => `select ${index} as joint_no, q.* from (${inSchema(question)}) q`)
      .join(' union all ');
    const bindings = questions.flatMap((question) => question.bindings);
    const ended = observer?.statement('read');
    let succeeded = false;
    const asked = (async () => {
      const connection = await client.acquireConnection();
      try {
        return (await client.query(connection, { sql, bindings })).response;
      } finally {
        await client.releaseConnection(connection);
      }
    })();
    const inTime = new AbortController();
    try {
      const late = clock.sleep(jointMs, inTime.signal).then(() => {
        throw new StoreError('timeout', 'a statement of several schemas did not answer in time');
      });
      const response = await Promise.race([asked, late]);
      succeeded = true;
      const answers: Rows[number][][] = questions.map(() => []);
      for (const row of dialect.rowsOf(response)) answers[Number(row['joint_no'])]?.push(row);
      return answers;
    } finally {
      asked.catch(() => {}); // what comes after the limit is of no use
      inTime.abort();
      ended?.(succeeded);
    }
  }
}

const passing: ReadonlySet<string> = new Set(['timeout', 'unavailable', 'busy', 'closed']);

/** The number of values of a list tells no two questions apart. */
function keyOf(sql: string): string {
  return sql.replaceAll(/\?(?:, ?\?)+/g, '?*');
}

const begins = /^\s*(?:select|with)\b/i;
/** Tables of the server and of the session, and locks. */
const isOwn = /\b(?:information_schema|pg_\w+|database\(|current_schema|for update|for share|lock in share mode)/i;
const tables = /\b(from|join)(\s+)([a-z_]+)\b/gi;

function isJoinable(sql: string): boolean {
  return begins.test(sql) && !isOwn.test(sql) && sql.search(tables) >= 0;
}

/** The statement with the schema before each of its tables; what it makes itself by `with` has none. */
function inSchema({ schema, sql }: Question): string {
  const made = new Set(Array.from(sql.matchAll(/\b([a-z_]+)(?:\s*\([a-z_, ]+\))?\s+as\s+\(/gi), ([, name]) => name));
  const quoted = `"${schema.replaceAll('"', '""')}"`;
  const placed = sql.replaceAll(tables, (whole, word: string, space: string, name: string) =>
    made.has(name) || notTables.has(name.toLowerCase()) ? whole : `${word}${space}${quoted}.${name}`,
  );
  // An order without a limit is dropped by MySQL from what stands in brackets.
  return isOrderedWhole(placed) ? `${placed} limit ${Number.MAX_SAFE_INTEGER}` : placed;
}

const notTables: ReadonlySet<string> = new Set(['lateral', 'unnest', 'json_table', 'select']);

/** Its last `order by` is that of the whole statement, and no limit follows. */
function isOrderedWhole(sql: string): boolean {
  const tail = / order by (?!.* order by )(.*)$/is.exec(sql)?.[1];
  if (tail === undefined) return false;
  let depth = 0;
  for (const [bracket] of tail.matchAll(/[()]/g)) {
    depth += bracket === '(' ? 1 : -1;
    if (depth < 0) return false;
  }
  return !/\blimit\b/i.test(tail);
}

function* inStatements(questions: readonly Question[]): Generator<readonly Question[]> {
  let part: Question[] = [];
  let bindings = 0;
  for (const question of questions) {
    if (part.length === mostSchemas || (part.length > 0 && bindings + question.bindings.length > mostBindings)) {
      yield part;
      part = [];
      bindings = 0;
    }
    part.push(question);
    bindings += question.bindings.length;
  }
  if (part.length > 0) yield part;
}
