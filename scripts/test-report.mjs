import { relative } from 'node:path';
import { inspect } from 'node:util';

/**
 * Collects what the runner tells, prints failures as they come, and adds up. What a file told is kept by file, so that a second attempt
 * can take the place of the first.
 */
export class TestReport {
  #groups = [];
  #unfinished = new Set();
  #unstable = [];
  #secondsOfFile = new Map();
  #processorSecondsOfFile = new Map();

  /** `files`: absolute paths, all of which have to come to an end. */
  beginGroup(name, files) {
    this.#unfinished = new Set(files);
    this.#groups.push({ name, files: new Map(), startedMs: performance.now(), seconds: 0 });
  }

  /** The line about the group that has ended. */
  endGroup() {
    const group = this.#groups.at(-1);
    group.seconds = Math.round((performance.now() - group.startedMs) / 100) / 10;
    const { name, passed, failed, skipped, seconds } = countsOf(group);
    return `${failed > 0 ? 'FAILED' : 'ok    '} ${name}: ${passed} passed, ${failed} failed, ${skipped} skipped (${seconds} s)`;
  }

  /** The files of the running group that have not ended: what an interrupted run hung on is the first of them. */
  unfinished() {
    return [...this.#unfinished].map(shortPath);
  }

  /** Absolute paths of the running group's files that have failed. */
  failedFiles() {
    return [...this.#groups.at(-1).files].filter(([, { failures }]) => failures.length > 0).map(([file]) => file);
  }

  /** Forgets what a file told, before it is run once more; its failures stay known as those of an unstable file. */
  beginSecondAttempt(file) {
    const { files } = this.#groups.at(-1);
    this.#unstable.push({ file, failures: files.get(file).failures });
    files.delete(file);
    this.#unfinished.add(file);
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

  /** What files said of themselves as they ended: a line each with the seconds for which a processor worked for them. */
  takeProcessorTimes(lines) {
    for (const { file, seconds } of lines
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line)))
      this.#processorSecondsOfFile.set(file, seconds);
  }

  /**
   * Counts and the lines before them. `mayBeMissing` makes every other skip a failure: a build machine has what packages bring.
   */
  summary({ mayBeMissing }) {
    const groups = this.#groups.map(countsOf);
    const sum = (count) => groups.reduce((total, group) => total + group[count], 0);
    const failures = this.#groups.flatMap(({ files }) => [...files.values()].flatMap((told) => told.failures));
    const failed = new Set(failures.map(({ file }) => file));
    const unstable = this.#unstable
      .map(({ file, failures: first }) => ({ file: shortPath(file), failures: first }))
      .filter(({ file }) => !failed.has(file));
    const skips = this.#skips();
    const refused = mayBeMissing ? skips.filter(({ what }) => !mayBeMissing.includes(what)) : [];
    const refusedTests = refused.reduce((total, { tests }) => total + tests, 0);
    const lines = skips.map(
      ({ what, tests, why }) => `SKIPPED ${what}, ${tests} ${tests === 1 ? 'test' : 'tests'}: ${why}`,
    );
    if (refused.length > 0) lines.push(`FAILED: nothing may be skipped here but ${mayBeMissing.join(', ')}`);
    for (const { file, failures: first } of unstable)
      lines.push(
        `UNSTABLE ${file}: passed at the second attempt; at the first failed ${first.map(({ name }) => name).join('; ')}`,
      );
    return {
      passed: sum('passed'),
      failed: sum('failed') + refusedTests,
      skipped: sum('skipped') - refusedTests,
      skips,
      failures,
      unstable,
      slowest: this.#slowest(),
      printed: this.#printed(),
      groups,
      lines,
    };
  }

  #skips() {
    const skips = new Map();
    for (const { files } of this.#groups)
      for (const told of files.values())
        for (const { what, why } of told.skips) {
          const key = `${what}: ${why}`;
          const known = skips.get(key) ?? { what, why, tests: 0 };
          skips.set(key, { ...known, tests: known.tests + 1 });
        }
    return [...skips.values()];
  }

  /** The files that took longest: what to look at when a run takes too long. One that has few seconds of a processor mostly waits. */
  #slowest() {
    const files = [...this.#secondsOfFile].map(([file, seconds]) => {
      const processorSeconds = this.#processorSecondsOfFile.get(file);
      return { file: shortPath(file), seconds, ...(processorSeconds !== undefined && { processorSeconds }) };
    });
    return files.sort((a, b) => b.seconds - a.seconds).slice(0, 100);
  }

  /** What each file wrote, figures that its tests measured among it; the last of it. */
  #printed() {
    const files = this.#groups.flatMap((group) => [...group.files]);
    return Object.fromEntries(
      files
        .filter(([, { output }]) => output.length > 0)
        .map(([file, { output }]) => [shortPath(file), output.join('').trimEnd().split('\n')]),
    );
  }

  #passed(data) {
    const told = this.#toldBy(data);
    const skip = data.skip ?? data.todo;
    if (skip !== undefined) return told.skips.push(readSkip(data, skip));
    if (data.details.type === 'suite') return undefined;
    if (data.name === data.file) return this.#tell(data, 'the file holds no test');
    told.passed++;
    return undefined;
  }

  #failed(data) {
    const { error } = data.details;
    // Its own tests have been told already.
    if (error?.failureType === 'subtestsFailed') return;
    this.#tell(data, explain(error));
  }

  #tell(data, why) {
    const told = this.#toldBy(data);
    const file = shortPath(data.entryFile ?? data.file ?? '');
    const place = data.line > 1 && data.file === (data.entryFile ?? data.file) ? `${file}:${data.line}` : file;
    const name = data.name === data.file ? 'the whole file' : [data.classname, data.name].filter(Boolean).join(' › ');
    const output = told.output.join('').trimEnd();
    told.failures.push({ file, name, why });
    console.log(`FAILED ${place} › ${name}\n${indent(why)}`);
    if (output) console.log(indent(`it wrote:\n${indent(output)}`));
  }

  /** The last of what a file wrote: it is shown when one of its tests fails. */
  #keepOutput(data) {
    const told = this.#toldBy(data);
    told.output = [...told.output, data.message].slice(-100);
  }

  #toldBy(data) {
    const file = data.entryFile ?? data.file;
    const { files } = this.#groups.at(-1);
    if (!files.has(file)) files.set(file, { passed: 0, skips: [], failures: [], output: [] });
    return files.get(file);
  }
}

function countsOf({ name, files, seconds }) {
  const counts = { name, passed: 0, failed: 0, skipped: 0, seconds };
  for (const told of files.values()) {
    counts.passed += told.passed;
    counts.failed += told.failures.length;
    counts.skipped += told.skips.length;
  }
  return counts;
}

/** A reason reads `what: why`; without a `what` the test's own name stands for it. */
function readSkip(data, skip) {
  const [, what, why] = /^([^:]{1,40}): (.+)$/s.exec(String(skip)) ?? [undefined, data.name, String(skip)];
  return { what, why };
}

function shortPath(file) {
  return relative(process.cwd(), file);
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
