import type { Clock, Logger } from '@cronjob-monitor/shared/process';

/** What a command may touch; a test brings its own. */
export interface World {
  /** The arguments behind the name of the program. */
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly out: (text: string) => void;
  readonly error: (text: string) => void;
  /** Standard input; asked for by the file name `-` alone. */
  readonly input: () => AsyncIterable<Uint8Array>;
  readonly clock: Clock;
  /** Hears what a database has to say beside its answers. */
  readonly logger: Logger;
}

/** 0: well. 1: there is something to look at. 2: it could not be asked: usage, input, or a service that does not answer. */
export type ExitStatus = 0 | 1 | 2;

/** One command of the command line. */
export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The whole of `--help`. */
  readonly usage: string;
  run(argv: readonly string[], world: World): Promise<ExitStatus>;
}

/** What a person can mend: a sentence for each problem. Ends the command with 2. */
export class InputError extends Error {
  readonly problems: readonly string[];

  constructor(...problems: readonly string[]) {
    super(problems.join('; '));
    this.name = 'InputError';
    this.problems = problems;
  }
}

/** An argument that is wrong; the usage of the command is named beside it. */
export class UsageError extends InputError {
  constructor(...problems: readonly string[]) {
    super(...problems);
    this.name = 'UsageError';
  }
}
