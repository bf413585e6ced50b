import { cpus, release, totalmem } from 'node:os';

/** What a benchmark found: figures with their budgets, printed as they come. Ends the process with 1 when one is over. */
export class Report {
  #over = 0;

  constructor(name: string, conditions: string) {
    const [cpu] = cpus();
    console.log(`# ${name}: ${conditions}`);
    console.log(
      `  ${cpus().length} cores (${cpu?.model ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}, Node ${process.version}`,
    );
  }

  /** `budget`: the most it may be; undefined: it is told and not judged. */
  figure(what: string, value: number, unit: string, budget?: number): void {
    const isOver = budget !== undefined && value > budget;
    if (isOver) this.#over++;
    const limit = budget === undefined ? '' : `   budget ${budget} ${unit}${isOver ? '   OVER' : ''}`;
    console.log(`  ${what.padEnd(46)} ${value.toFixed(value < 10 ? 2 : 1).padStart(9)} ${unit}${limit}`);
  }

  note(text: string): void {
    console.log(`  (${text})`);
  }

  end(): void {
    if (this.#over === 0) return;
    console.log(`  ${this.#over} over budget`);
    process.exitCode = 1;
  }
}
