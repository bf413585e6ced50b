import bunyan from 'bunyan';
import type { Clock } from './clock.ts';
import { toSafeFacts, toSafeJson, type SafeFact } from './safe-facts.ts';

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
