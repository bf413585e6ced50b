import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A hook at the top of a file holds for all tests of its process, and so does a change of folder: such a file keeps a process of its own. */
const needsOwnProcess = /^(before|after|beforeEach|afterEach)\(|^\s*process\.(chdir|exit)\(/m;

/**
 * Puts small test files into one process, several at a time: to start one and to load what a test needs takes longer than most tests.
 * A batch only saves time: if anything in it fails, or one of its files tells no test, all that it told is forgotten, and each of its
 * files is to be run alone.
 */
export class TestBatches {
  #membersOf = new Map();
  #told = new Map();
  #alone = [];

  /**
   * @param {readonly string[]} files absolute paths
   * @param {number} size files of a process, at most
   * @param {string} folder the modules of the batches are written into it
   */
  constructor(files, size, folder) {
    if (size > 1) mkdirSync(folder, { recursive: true });
    const canShare = (file) => size > 1 && !needsOwnProcess.test(readFileSync(file, 'utf8'));
    const shared = files.filter(canShare);
    this.entries = files.filter((file) => !canShare(file));
    for (let from = 0; from < shared.length; from += size) {
      const members = shared.slice(from, from + size);
      if (members.length > 1)
        this.entries.push(this.#write(join(folder, `batch-${from / size + 1}.test.mjs`), members));
      else this.entries.push(...members);
    }
  }

  #write(entry, members) {
    writeFileSync(entry, members.map((file) => `import ${JSON.stringify(pathToFileURL(file).href)};\n`).join(''));
    this.#membersOf.set(entry, members);
    this.#told.set(entry, []);
    return entry;
  }

  /** One event of the runner; returns those that may be told now: of a batch all, when it has ended well. */
  take(event) {
    const { type, data } = event;
    const entry = data?.entryFile ?? data?.file;
    const told = this.#told.get(entry);
    if (told === undefined) return [event];
    told.push(event);
    if (type !== 'test:summary') return [];
    this.#told.delete(entry);
    const members = this.#membersOf.get(entry);
    if (!isGood(told, members)) {
      this.#alone.push(...members);
      for (const { data } of told.filter(({ type }) => type === 'test:fail').filter(isOwnFailure))
        console.log(`failed beside others of its process, which are run alone now: ${nameOf(data)}`);
      return [];
    }
    return [
      ...told.filter((one) => one.type !== 'test:summary').map((one) => ofMember(one, members)),
      ...ends(told, members),
    ];
  }

  /** The files of the batches that failed, once; a batch that never ended is among them. */
  takeAlone() {
    const files = [...this.#alone, ...[...this.#told.keys()].flatMap((entry) => this.#membersOf.get(entry))];
    this.#alone = [];
    this.#told.clear();
    return files;
  }
}

function isGood(told, members) {
  const spoke = new Set(told.filter(({ type }) => type === 'test:pass').map(({ data }) => data.file));
  return !told.some(({ type }) => type === 'test:fail') && members.every((file) => spoke.has(file));
}

function isOwnFailure({ data }) {
  return data.details.error?.failureType !== 'subtestsFailed';
}

function nameOf({ file, name, classname }) {
  return [file !== name && relative(process.cwd(), file), classname, name].filter(Boolean).join(' › ');
}

/** What a member told is its own; what the process wrote has no file but the batch. */
function ofMember({ type, data }, members) {
  return { type, data: members.includes(data.file) ? { ...data, entryFile: data.file } : data };
}

/** The end of each member, with the time that its own tests took. */
function ends(told, members) {
  return members.map((file) => {
    const own = told.filter(({ type, data }) => type === 'test:pass' && data.file === file && data.nesting === 0);
    const duration = own.reduce((sum, { data }) => sum + data.details.duration_ms, 0);
    return { type: 'test:summary', data: { file, duration_ms: duration } };
  });
}
