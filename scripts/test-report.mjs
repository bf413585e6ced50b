import { relative } from 'node:path';
import { inspect } from 'node:util';

/** Collects what the runner tells, prints failures as they come, and adds up. */
export class TestReport {
  #groups = [];
  #failures = [];
  #skips = new Map();
  #outputOf = new Map();
  #unfinished = new Set();
  #secondsOfFile = new Map();

  /** `files`: absolute paths, all of which have to come to an end. */
  beginGroup(name, files) {
    this.#unfinished = new Set(files);
    this.#groups.push({ name, passed: 0, failed: 0, skipped: 0, startedMs: performance.now(), seconds: 0 });
  }

  /** The line about the group that has ended. */
  endGroup() {
    const group = this.#groups.at(-1);
    group.seconds = Math.round((performance.now() - group.startedMs) / 100) / 10;
    const { name, passed, failed, skipped, seconds } = group;
    return `${failed > 0 ? 'FAILED' : 'ok    '} ${name}: ${passed} passed, ${failed} failed, ${skipped} skipped (${seconds} s)`;
  }

  /** The files of the running group that have not ended: what an interrupted run hung on is the first of them. */
  unfinished() {
    return [...this.#unfinished].map((file) => relative(process.cwd(), file));
  }

  /** One event of the runner. */
  take({ type, data }) {
    const isEndOfFile = type === 'test:summary' || (/^test:(pass|fail)$/.test(type) && data.name === data.file);
    if (isEndOfFile) this.#unfinished.delete(data.file);
    if (type === 'test:summary' && data.file)
      this.#secondsOfFile.set(data.file, Math.round(data.duration_ms / 100) / 10);
    if (type === 'test:pass') this.#passed(data);
    else if (type === 'test:fail') this.#failed(data);
    else if (type === 'test:stdout' || type === 'test:stderr') this.#keepOutput(data);
  }

  /**
   * Counts and the lines before them. `mayBeMissing` makes every other skip a failure: a build machine has what packages bring.
   */
  summary({ mayBeMissing }) {
    const sum = (count) => this.#groups.reduce((total, group) => total + group[count], 0);
    const skips = [...this.#skips.values()];
    const refused = mayBeMissing ? skips.filter(({ what }) => !mayBeMissing.includes(what)) : [];
    const refusedTests = refused.reduce((total, { tests }) => total + tests, 0);
    const lines = skips.map(
      ({ what, tests, why }) => `SKIPPED ${what}, ${tests} ${tests === 1 ? 'test' : 'tests'}: ${why}`,
    );
    if (refused.length > 0) lines.push(`FAILED: nothing may be skipped here but ${mayBeMissing.join(', ')}`);
    return {
      passed: sum('passed'),
      failed: sum('failed') + refusedTests,
      skipped: sum('skipped') - refusedTests,
      skips,
      failures: this.#failures,
      slowest: this.#slowest(),
      groups: this.#groups.map(({ startedMs: _, ...group }) => group),
      lines,
    };
  }

  /** The files that took longest: what to look at when a run takes too long. */
  #slowest() {
    const files = [...this.#secondsOfFile].map(([file, seconds]) => ({ file: relative(process.cwd(), file), seconds }));
    return files.sort((a, b) => b.seconds - a.seconds).slice(0, 40);
  }

  #passed(data) {
    const group = this.#groups.at(-1);
    const skip = data.skip ?? data.todo;
    if (skip !== undefined) return this.#skipped(group, data, skip);
    if (data.details.type === 'suite') return undefined;
    if (data.name === data.file) return this.#tell(data, 'the file holds no test');
    group.passed++;
    return undefined;
  }

  /** A reason reads `what: why`; without a `what` the test's own name stands for it. */
  #skipped(group, data, skip) {
    const [, what, why] = /^([^:]{1,40}): (.+)$/s.exec(String(skip)) ?? [undefined, data.name, String(skip)];
    const key = `${what}: ${why}`;
    const known = this.#skips.get(key) ?? { what, why, tests: 0 };
    this.#skips.set(key, { ...known, tests: known.tests + 1 });
    group.skipped++;
  }

  #failed(data) {
    const { error } = data.details;
    // Its own tests have been told already.
    if (error?.failureType === 'subtestsFailed') return;
    this.#tell(data, explain(error));
  }

  #tell(data, why) {
    this.#groups.at(-1).failed++;
    const file = relative(process.cwd(), data.entryFile ?? data.file ?? '');
    const place = data.line > 1 && data.file === (data.entryFile ?? data.file) ? `${file}:${data.line}` : file;
    const name = data.name === data.file ? 'the whole file' : [data.classname, data.name].filter(Boolean).join(' › ');
    const output = this.#outputOf
      .get(data.entryFile ?? data.file)
      ?.join('')
      .trimEnd();
    this.#failures.push({ file, name, why });
    console.log(`FAILED ${place} › ${name}\n${indent(why)}`);
    if (output) console.log(indent(`it wrote:\n${indent(output)}`));
  }

  /** The last of what a file wrote: it is shown when one of its tests fails. */
  #keepOutput({ file, message }) {
    const pieces = this.#outputOf.get(file) ?? [];
    pieces.push(message);
    this.#outputOf.set(file, pieces.slice(-100));
  }
}

/** The cause is what the test threw; around it the runner puts words of its own. */
function explain(error) {
  const cause = error?.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return inspect(error?.cause ?? error);
  const ours = (cause.stack ?? '').split('\n').filter((line) => !/\(?node:internal|node_modules/.test(line));
  return ours.join('\n').trim() || cause.message;
}

function indent(text) {
  return text.replaceAll(/^/gm, '  ');
}
