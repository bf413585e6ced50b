import bunyan from 'bunyan';
import type { Clock } from './clock.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFields = Readonly<Record<string, unknown>>;

/** A component's log. The message is a constant sentence, the facts are fields; `error` means that a person should act. */
export interface Logger {
  child(fields: LogFields): Logger;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** An audit line: written at every level. */
  audit(message: string, fields: LogFields): void;
}

export interface LoggerOptions {
  /** Lines below it are not written, audit lines apart. */
  readonly level: LogLevel;
  /** One JSON object a line, or text for people. */
  readonly format: 'json' | 'text';
  readonly clock: Clock;
  /** Takes a line with its end; absent: standard output. */
  readonly write?: (line: string) => void;
}

const ranks = { debug: bunyan.DEBUG, info: bunyan.INFO, warn: bunyan.WARN, error: bunyan.ERROR } as const;

/**
 * The log of a process. Texts are cut at 200 characters, sentences at 500, and cannot steer a terminal; an error becomes its code and message; of
 * a database driver's error the message is left out, for it holds values.
 */
export function createLogger(options: LoggerOptions): Logger {
  const write = options.write ?? standardOutput();
  const toLine = options.format === 'json' ? toJsonLine : toTextLine;
  const sinkFrom = (level: LogLevel) =>
    bunyan.createLogger({
      name: 'cronjob-monitor',
      serializers: { facts: toSafeFacts },
      streams: [{ type: 'raw', level, stream: { write: (record: object) => write(`${toLine(recordOf(record))}\n`) } }],
    });
  return new FactLogger({ sink: sinkFrom(options.level), auditSink: sinkFrom('debug'), clock: options.clock }, {});
}

/** What we put into a record of bunyan and read out of it again. */
interface LogRecord {
  readonly time: Date;
  readonly level: number;
  readonly msg: string;
  readonly facts: Readonly<Record<string, SafeFact>>;
}

interface Sinks {
  readonly sink: bunyan;
  /** Takes lines of every level. */
  readonly auditSink: bunyan;
  readonly clock: Clock;
}

class FactLogger implements Logger {
  readonly #sinks: Sinks;
  readonly #facts: LogFields;

  constructor(sinks: Sinks, facts: LogFields) {
    this.#sinks = sinks;
    this.#facts = facts;
  }

  child(fields: LogFields): Logger {
    return new FactLogger(this.#sinks, { ...this.#facts, ...fields });
  }

  // The message is an argument and not the format: a `%` in it means nothing.
  debug(message: string, fields?: LogFields): void {
    this.#sinks.sink.debug(this.#record(fields), '%s', message);
  }

  info(message: string, fields?: LogFields): void {
    this.#sinks.sink.info(this.#record(fields), '%s', message);
  }

  warn(message: string, fields?: LogFields): void {
    this.#sinks.sink.warn(this.#record(fields), '%s', message);
  }

  error(message: string, fields?: LogFields): void {
    this.#sinks.sink.error(this.#record(fields), '%s', message);
  }

  audit(message: string, fields: LogFields): void {
    this.#sinks.auditSink.info(this.#record({ ...fields, audit: true }), '%s', message);
  }

  #record(fields: LogFields | undefined): object {
    return { time: new Date(this.#sinks.clock.now()), facts: { ...this.#facts, ...fields } };
  }
}

/** bunyan hands out what it was given; a fact of one of its own names would hide that name, so ours are apart. */
function recordOf(record: object): LogRecord {
  return record as LogRecord; // Made by `#record` above, the only one that writes to this sink.
}

function levelOf({ level }: LogRecord): LogLevel {
  if (level >= ranks.error) return 'error';
  if (level >= ranks.warn) return 'warn';
  return level >= ranks.info ? 'info' : 'debug';
}

function toJsonLine(record: LogRecord): string {
  const { time, level, msg, ...facts } = record.facts;
  const hidden = Object.entries({ time, level, msg }).filter(([, fact]) => fact !== undefined);
  return toSafeJson({
    time: record.time.toISOString(),
    level: levelOf(record),
    msg: record.msg,
    ...facts,
    ...Object.fromEntries(hidden.map(([name, fact]) => [`${name}_`, fact ?? null])),
  });
}

function toTextLine(record: LogRecord): string {
  const facts = Object.entries(record.facts).map(([name, fact]) => ` ${name}=${toText(fact)}`);
  const message = toSafeJson(record.msg).slice(1, -1).replaceAll('\\"', '"');
  return `${record.time.toISOString()} ${levelOf(record).padEnd(5)} ${message}${facts.join('')}`;
}

function toText(fact: SafeFact): string {
  return typeof fact === 'string' && /^[\w.:/@+*-]+$/.test(fact) ? fact : toSafeJson(fact);
}

/** A reader that goes away (`| head`) ends its lines, not the process. */
function standardOutput(): (line: string) => void {
  process.stdout.on('error', () => {});
  return (line) => void process.stdout.write(line);
}

/** What a fact may become in a log line. */
type SafeFact = string | number | boolean | null | readonly SafeFact[] | { readonly [name: string]: SafeFact };

const maxText = 200;
const maxMessage = 500;
/** Facts that are sentences: what to do stands at their end. */
const sentences: ReadonlySet<string> = new Set(['problem', 'reason', 'why']);
const maxItems = 200;
const maxDepth = 5;

/** Characters that steer a terminal, end a line or turn the direction of text; what `JSON.stringify` leaves as they are. */
const steering = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** The facts of a line, fit to be written: short texts, errors as code and message, nothing that cannot be JSON. */
function toSafeFacts(facts: Readonly<Record<string, unknown>>): Record<string, SafeFact> {
  return toSafeObject(facts, 0);
}

/** JSON on one line in which no character steers a terminal. */
function toSafeJson(value: SafeFact): string {
  return JSON.stringify(value).replace(steering, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

function toSafe(value: unknown, depth: number): SafeFact | undefined {
  if (typeof value === 'string') return cut(value, maxText);
  if (typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object') return undefined;
  if (value instanceof Error) return toSafeError(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString();
  if (depth >= maxDepth) return '…';
  if (value instanceof Map) return toSafeObject(Object.fromEntries(value), depth + 1);
  if (Array.isArray(value) || value instanceof Set) {
    return [...value].slice(0, maxItems).map((item) => toSafe(item, depth + 1) ?? null);
  }
  return toSafeObject(value, depth + 1);
}

function toSafeObject(value: object, depth: number): Record<string, SafeFact> {
  const entries = Object.entries(value)
    .slice(0, maxItems)
    .flatMap(([name, fact]) => {
      const isSentence = typeof fact === 'string' && sentences.has(name);
      const safe = isSentence ? cut(fact, maxMessage) : toSafe(fact, depth);
      return safe === undefined ? [] : [[cut(name, maxText), safe] as const];
    });
  return Object.fromEntries(entries);
}

/** Code and message. A driver of a database puts the statement and its values into the message: of its errors only the code is kept. */
function toSafeError(error: Error): SafeFact {
  const code = codeOf(error) ?? error.name;
  const cause = error.cause instanceof Error ? { cause: codeOf(error.cause) ?? error.cause.name } : {};
  return { code, ...(isOfDriver(error) ? {} : { message: cut(error.message, maxMessage) }), ...cause };
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? cut(error.code, maxText) : undefined;
}

/** SQLite says so in its code; MySQL and PostgreSQL by fields that no other error has. */
function isOfDriver(error: Error): boolean {
  return (
    codeOf(error)?.startsWith('SQLITE_') === true ||
    'sqlMessage' in error ||
    ('severity' in error && 'routine' in error)
  );
}

function cut(text: string, most: number): string {
  return text.length <= most ? text.toWellFormed() : `${text.slice(0, most).toWellFormed()}…`;
}

/** The sentence of an error of ours, for a log line: those of the store and of the client hold nothing secret. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown';
}
