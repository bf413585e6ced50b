import { type FileHandle, mkdir, open, readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** One line of the spool. `value` is any JSON; the newest line of a UID counts. */
export interface SpoolEntry {
  readonly uid: string;
  readonly value: unknown;
}

export interface SpoolDeps {
  readonly folder: string;
  /** The spool had no room: the entry is lost with its segment. Called once for each UID. */
  readonly onDropped: () => void;
  /** A line that cannot be read back, such as the last one of a process that was killed while writing. */
  readonly onUnreadable: () => void;
  readonly maxBytes?: number;
  readonly segmentBytes?: number;
}

interface Segment {
  readonly path: string;
  bytes: number;
  /** Whose newest line may be here, and is not committed yet. */
  readonly uids: Set<string>;
}

const namePattern = /^ended-(\d{10})\.jsonl$/;

/**
 * Ended runs on disk while the database is away, so that an outage and a restart together lose nothing. Lines are appended to
 * segments and synced before `append` resolves; a segment is deleted when the last of its entries is committed. At most
 * 64 MiB: beyond it the oldest segment goes first. A reader gets entries back that were committed already: what they
 * lead to must bear a repetition.
 */
export class Spool {
  readonly #deps: SpoolDeps;
  readonly #maxBytes: number;
  readonly #segmentBytes: number;
  /** Oldest first. */
  #segments: Segment[] = [];
  #current: { readonly segment: Segment; readonly file: FileHandle } | undefined;
  #lastNumber = 0;
  /** Changes of the folder happen one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: SpoolDeps) {
    this.#deps = deps;
    this.#maxBytes = deps.maxBytes ?? 64 * 1024 * 1024;
    this.#segmentBytes = deps.segmentBytes ?? 1024 * 1024;
  }

  get bytes(): number {
    return this.#segments.reduce((sum, segment) => sum + segment.bytes, 0);
  }

  /** Entries that are not known to be committed, oldest first, those of earlier processes included. Once, at the start. */
  async *readBack(): AsyncGenerator<SpoolEntry> {
    await mkdir(this.#deps.folder, { recursive: true, mode: 0o700 });
    const names = (await readdir(this.#deps.folder)).filter((name) => namePattern.test(name)).sort();
    for (const name of names) {
      this.#lastNumber = Math.max(this.#lastNumber, Number(namePattern.exec(name)?.[1]));
      const path = join(this.#deps.folder, name);
      const text = await readFile(path, 'utf8');
      const segment: Segment = { path, bytes: Buffer.byteLength(text), uids: new Set() };
      this.#segments.push(segment);
      for (const line of text.split('\n')) {
        if (line === '') continue;
        const entry = this.#parse(line);
        if (!entry) continue;
        segment.uids.add(entry.uid);
        yield entry;
      }
      if (segment.uids.size === 0) await this.#delete(segment);
    }
  }

  /** Resolves when the entries are on disk. Throws when they are not. */
  append(entries: readonly SpoolEntry[]): Promise<void> {
    return this.#inTurn(async () => {
      const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
      const bytes = Buffer.byteLength(lines);
      await this.#makeRoom(bytes);
      const { segment, file } = await this.#openSegment();
      await file.appendFile(lines);
      await file.datasync();
      segment.bytes += bytes;
      for (const { uid } of entries) {
        // An older line of the same object has no say any more.
        for (const other of this.#segments) if (other !== segment) other.uids.delete(uid);
        segment.uids.add(uid);
      }
      if (segment.bytes >= this.#segmentBytes) await this.#closeCurrent();
      await this.#deleteEmpty();
    });
  }

  /** After the commit. */
  remove(uids: readonly string[]): Promise<void> {
    return this.#inTurn(async () => {
      for (const segment of this.#segments) for (const uid of uids) segment.uids.delete(uid);
      await this.#deleteEmpty();
    });
  }

  async close(): Promise<void> {
    await this.#inTurn(() => this.#closeCurrent());
  }

  #inTurn(change: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(change);
    this.#last = turn.catch(() => {}); // Told to the caller that asked for the change.
    return turn;
  }

  async #openSegment(): Promise<{ readonly segment: Segment; readonly file: FileHandle }> {
    if (this.#current) return this.#current;
    this.#lastNumber += 1;
    const name = `ended-${String(this.#lastNumber).padStart(10, '0')}.jsonl`;
    const segment: Segment = { path: join(this.#deps.folder, name), bytes: 0, uids: new Set() };
    await mkdir(this.#deps.folder, { recursive: true, mode: 0o700 });
    const file = await open(segment.path, 'a', 0o600);
    this.#current = { segment, file };
    this.#segments.push(segment);
    await this.#syncFolder();
    return this.#current;
  }

  async #syncFolder(): Promise<void> {
    // The name of a new file is not on disk until its folder is.
    const folder = await open(this.#deps.folder, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  async #makeRoom(bytes: number): Promise<void> {
    while (this.bytes + bytes > this.#maxBytes) {
      const [oldest] = this.#segments;
      if (!oldest) return;
      for (let lost = oldest.uids.size; lost > 0; lost -= 1) this.#deps.onDropped();
      await this.#delete(oldest);
    }
  }

  async #deleteEmpty(): Promise<void> {
    for (const segment of this.#segments.filter(({ uids }) => uids.size === 0)) await this.#delete(segment);
  }

  async #delete(segment: Segment): Promise<void> {
    if (this.#current?.segment === segment) await this.#closeCurrent();
    this.#segments = this.#segments.filter((other) => other !== segment);
    await unlink(segment.path);
  }

  async #closeCurrent(): Promise<void> {
    const file = this.#current?.file;
    this.#current = undefined;
    await file?.close();
  }

  #parse(line: string): SpoolEntry | undefined {
    try {
      const entry: unknown = JSON.parse(line);
      if (typeof entry === 'object' && entry !== null && 'uid' in entry && typeof entry.uid === 'string') {
        return { uid: entry.uid, value: 'value' in entry ? entry.value : undefined };
      }
    } catch {
      // Counted below: a line that was cut is expected after a crash.
    }
    this.#deps.onUnreadable();
    return undefined;
  }
}
