import type { LogFields, Logger, LogLevel } from '../process/logger.ts';

export interface LoggedLine {
  readonly level: LogLevel | 'audit';
  readonly message: string;
  readonly fields: LogFields;
}

/** Keeps what was logged, in order; children write into the same list, their fields merged in. */
export class RecordingLogger implements Logger {
  readonly lines: LoggedLine[];
  readonly #fields: LogFields;

  constructor(lines: LoggedLine[] = [], fields: LogFields = {}) {
    this.lines = lines;
    this.#fields = fields;
  }

  child(fields: LogFields): Logger {
    return new RecordingLogger(this.lines, { ...this.#fields, ...fields });
  }

  debug(message: string, fields?: LogFields): void {
    this.#keep('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#keep('info', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#keep('warn', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#keep('error', message, fields);
  }

  audit(message: string, fields: LogFields): void {
    this.#keep('audit', message, fields);
  }

  #keep(level: LoggedLine['level'], message: string, fields: LogFields = {}): void {
    this.lines.push({ level, message, fields: { ...this.#fields, ...fields } });
  }
}
