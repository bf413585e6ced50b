import { appendFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';

/** One figure of a benchmark, as the page of all of them reads it. */
interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly budget: number | undefined;
}

/**
 * What a benchmark found: figures with their budgets, printed as they come. Ends the process with 1 when one is over. With
 * `BENCH_RESULTS` all of it is also added as a line of JSON to that file.
 */
export class Report {
  readonly #name: string;
  readonly #conditions: string;
  readonly #figures: Figure[] = [];
  readonly #notes: string[] = [];

  constructor(name: string, conditions: string) {
    this.#name = name;
    this.#conditions = conditions;
    const [cpu] = cpus();
    console.log(`# ${name}: ${conditions}`);
    console.log(
      `  ${cpus().length} cores (${cpu?.model ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release().split('-')[0]}, Node ${process.version}`,
    );
  }

  /** `budget`: the most it may be; undefined: it is told and not judged. */
  figure(what: string, value: number, unit: string, budget?: number): void {
    this.#figures.push({ what, value, unit, budget });
    const limit = budget === undefined ? '' : `   budget ${budget} ${unit}${value > budget ? '   OVER' : ''}`;
    console.log(`  ${what.padEnd(46)} ${value.toFixed(value < 10 ? 2 : 1).padStart(9)} ${unit}${limit}`);
  }

  note(text: string): void {
    this.#notes.push(text);
    console.log(`  (${text})`);
  }

  end(): void {
    const found = {
      name: this.#name,
      at: new Date().toISOString(),
      conditions: this.#conditions,
      figures: this.#figures,
      notes: this.#notes,
    };
    const file = process.env['BENCH_RESULTS'];
    if (file !== undefined) appendFileSync(file, `${JSON.stringify(found)}\n`);
    const over = this.#figures.filter(({ value, budget }) => budget !== undefined && !(value <= budget)).length;
    if (over === 0) return;
    console.log(`  ${over} over budget`);
    process.exitCode = 1;
  }
}
