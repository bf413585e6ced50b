import { Agent, request as ask, type IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { VirtualClock } from '@cronjob-monitor/simcluster';
import { Comparison } from './compare.ts';
import type { RecordedCase, RecordedRequest, RecordedStep, StreamLine } from './golden-file.ts';
import { bodyOfNote, pathOfNote } from './large-request.ts';
import { aboutOf, alignLines } from './stream-order.ts';

/** Where a case is played, and what time it is there. */
interface Stage {
  readonly url: string;
  readonly token: string;
  readonly clock: VirtualClock;
}

/** What one step got for an answer. */
interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

interface OpenStream {
  readonly index: number;
  readonly step: RecordedStep;
  readonly lines: StreamLine[];
  /** The server ended it. */
  ended: boolean;
  /** This side closed it. */
  closed: boolean;
  close(): void;
}

const comparedHeaders = ['content-type', 'content-encoding', 'location', 'retry-after', 'warning', 'www-authenticate'];
/** How far from its recorded instant a line may come. */
const latenessMs = 1_500;
/** Turns of the event loop within which an answer comes that waits for no time to pass in the cluster. */
const promptTurns = 60;
const pumpStepMs = 100;
/** A stream that the server ends may end this much later than recorded. */
const closingMs = 100;

/** Plays a case against a fresh cluster whose clock stands at the case's epoch, and says what differs. */
export async function playCase(recorded: RecordedCase, stage: Stage): Promise<string[]> {
  const player = new Player(recorded, stage);
  return player.play();
}

class Player {
  readonly #case: RecordedCase;
  readonly #stage: Stage;
  readonly #epoch: number;
  readonly #comparison = new Comparison();
  readonly #answers: unknown[] = [];
  readonly #streams: OpenStream[] = [];
  readonly #agent = new Agent({ keepAlive: true });

  constructor(recorded: RecordedCase, stage: Stage) {
    this.#case = recorded;
    this.#stage = stage;
    this.#epoch = Date.parse(recorded.epoch);
  }

  async play(): Promise<string[]> {
    try {
      for (const [index, step] of this.#case.steps.entries()) {
        await this.#passTo(step.at);
        if (step.response.lines === undefined) await this.#playStep(index, step);
        else await this.#openStream(index, step);
      }
      const lastEnd = Math.max(0, ...this.#streams.map(({ step }) => step.response.endedAt ?? 0));
      await this.#passTo(lastEnd + closingMs);
      for (const stream of this.#streams) this.#checkStream(stream);
    } finally {
      for (const stream of this.#streams) stream.close();
      this.#agent.destroy();
    }
    this.#comparison.finish();
    return this.#comparison.differences;
  }

  /** Lets time pass to an offset of the case, and stops where lines are due or streams end. */
  async #passTo(offset: number): Promise<void> {
    for (const stop of this.#stopsBefore(offset)) {
      if (this.#offset() < stop) this.#stage.clock.advanceTo(this.#epoch + stop);
      await settle();
      for (const stream of this.#streams) this.#endIfDue(stream);
    }
  }

  #offset(): number {
    return this.#stage.clock.now() - this.#epoch;
  }

  #stopsBefore(offset: number): number[] {
    const stops = this.#streams.flatMap(({ step: { response } }) => [
      response.endedAt ?? offset,
      ...(response.lines ?? []).flatMap(({ at }) => [at - latenessMs, at + latenessMs]),
    ]);
    const due = stops.filter((stop) => stop > this.#offset() && stop < offset).toSorted((a, b) => a - b);
    return [...due, offset];
  }

  /** What arrives at a stream after its recorded end is no part of the case. */
  #endIfDue(stream: OpenStream): void {
    const { closedBy, endedAt = Infinity } = stream.step.response;
    if (closedBy === 'client' && !stream.closed && this.#offset() >= endedAt) {
      stream.closed = true;
      stream.close();
    }
  }

  async #playStep(index: number, step: RecordedStep): Promise<void> {
    const pending = this.#send(this.#bound(step), step.response.bodyOmitted === true);
    const answer = await this.#pump(pending);
    this.#answers[index] = { response: { status: answer.status, headers: answer.headers, body: answer.body } };
    this.#checkHead(index, step, answer.status, answer.headers);
    if (step.response.bodyOmitted === true) return;
    const place = { place: `/steps/${index}/response/body`, at: step.at };
    this.#comparison.check(step.response.body ?? '', answer.body, place, step.volatile ?? []);
  }

  /** Waits for an answer; when it does not come by itself, time passes in the cluster. */
  async #pump<T>(pending: Promise<T>): Promise<T> {
    const state = { done: false };
    const watched = pending.finally(() => {
      state.done = true;
    });
    // Failures are told by awaiting it below.
    watched.catch(() => {});
    for (let turn = 0; !state.done; turn++) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (turn > promptTurns) this.#stage.clock.advanceBy(pumpStepMs);
    }
    return watched;
  }

  #checkHead(index: number, step: RecordedStep, status: number, headers: Readonly<Record<string, string>>): void {
    const { response } = step;
    if (status !== response.status)
      this.#comparison.note(`/steps/${index}: status ${status} in place of ${response.status}`);
    for (const name of comparedHeaders) {
      if (headers[name] === response.headers[name]) continue;
      // How long an omitted body is compressed to is no business of this comparison, that it is compressed is.
      this.#comparison.note(
        `/steps/${index}: header ${name} is ${headers[name] ?? 'missing'}, recorded ${response.headers[name] ?? 'none'}`,
      );
    }
  }

  /** The request with values of this run where it held values of the recorded one. */
  #bound(step: RecordedStep): RecordedRequest {
    let request = step.request;
    for (const [pointer, binding] of Object.entries(step.bind ?? {})) {
      const keys = pointer.split('/').slice(2).map(unescape);
      if (typeof binding === 'string') request = withValue(request, keys, this.#valueAt(binding));
      else {
        for (const { text, from } of binding) {
          const before = String(keys.reduce<unknown>(childOf, request));
          const replaced = before.replaceAll(text, String(this.#valueAt(from)));
          request = withValue(request, keys, replaced);
        }
      }
    }
    return this.#withForgedToken(request);
  }

  /** A recorded token that no answer gave out is one whose signature was broken: so is the last one that this run has. */
  #withForgedToken(request: RecordedRequest): RecordedRequest {
    const keys = ['body', 'spec', 'token'];
    const token = keys.reduce<unknown>(childOf, request);
    if (typeof token !== 'string' || !/^TOKEN-\d+$/.test(token)) return request;
    const given = this.#answers.map((answer) => ['response', 'body', 'status', 'token'].reduce(childOf, answer));
    const last = given.findLast((one) => typeof one === 'string') ?? '';
    const [head, claims, signature = ''] = last.split('.');
    const broken = signature.startsWith('A') ? `B${signature.slice(1)}` : `A${signature.slice(1)}`;
    return withValue(request, keys, [head, claims, broken].join('.'));
  }

  #valueAt(pointer: string): unknown {
    const [, , index = '', ...keys] = pointer.split('/').map(unescape);
    const number = Number(index);
    const stream = this.#streams.find((one) => one.index === number);
    const answer = stream === undefined ? this.#answers[number] : { response: { lines: stream.lines } };
    return keys.reduce<unknown>(childOf, answer);
  }

  async #send(request: RecordedRequest, omitted: boolean): Promise<Answer> {
    const message = await this.#ask(request);
    const chunks: Buffer[] = [];
    for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
    const raw = Buffer.concat(chunks);
    const headers = headersOf(message);
    const text = (headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw).toString();
    const json = headers['content-type']?.startsWith('application/json') === true && text !== '' && !omitted;
    return { status: message.statusCode ?? 0, headers, body: json ? (JSON.parse(text) as unknown) : text };
  }

  #ask(request: RecordedRequest): Promise<IncomingMessage> {
    const { headers, body } = this.#written(request);
    const { hostname, port } = new URL(this.#stage.url);
    const path = request.pathNote === undefined ? request.path : pathOfNote(request.path, request.pathNote);
    return new Promise((resolve, reject) => {
      const asked = ask({ agent: this.#agent, hostname, port, path, method: request.method, headers }, resolve);
      asked.on('error', reject);
      asked.end(body);
    });
  }

  #written(request: RecordedRequest): { headers: Record<string, string | string[]>; body: Buffer | undefined } {
    const text =
      request.bodyNote === undefined
        ? (request.rawBody ?? (request.body === undefined ? undefined : JSON.stringify(request.body)))
        : bodyOfNote(request.bodyNote);
    const headers: Record<string, string | string[]> = {};
    if (request.anonymous !== true) headers['authorization'] = `Bearer ${this.#stage.token}`;
    if (text !== undefined) headers['content-type'] = 'application/json';
    for (const [name, value] of Object.entries(request.headers ?? {})) {
      headers[name] = typeof value === 'string' ? value : [...value];
    }
    if (headers['content-type'] === '') delete headers['content-type'];
    const body = text === undefined ? undefined : Buffer.from(text);
    if (body !== undefined) headers['content-length'] = String(body.length);
    return { headers, body };
  }

  async #openStream(index: number, step: RecordedStep): Promise<void> {
    const message = await this.#ask(this.#bound(step));
    this.#checkHead(index, step, message.statusCode ?? 0, headersOf(message));
    const stream: OpenStream = { index, step, lines: [], ended: false, closed: false, close: () => message.destroy() };
    this.#streams.push(stream);
    let rest = '';
    message.on('data', (chunk: Buffer) => {
      const parts = (rest + chunk.toString()).split('\n');
      rest = parts.pop() ?? '';
      for (const part of parts) {
        const { type, object } = JSON.parse(part) as { type: string; object: unknown };
        stream.lines.push({ at: this.#offset(), type, object });
      }
    });
    message.on('end', () => {
      stream.ended = true;
    });
    message.on('error', () => {});
    await settle();
  }

  #checkStream(stream: OpenStream): void {
    const { response, volatile } = stream.step;
    const recorded = response.lines ?? [];
    const place = `/steps/${stream.index}/response/lines`;
    if (response.closedBy === 'server' && !stream.ended) this.#comparison.note(`${place}: the server did not end it`);
    if (response.closedBy === 'client' && stream.ended) this.#comparison.note(`${place}: the server ended it`);
    const actual = alignLines(recorded, stream.lines);
    if (actual.length !== recorded.length) {
      this.#comparison.note(
        `${place}: ${actual.length} lines in place of ${recorded.length}:\n    got ${named(actual)}\n    recorded ${named(recorded)}`,
      );
      return;
    }
    recorded.forEach((line, index) => {
      const { at: _at, ...expected } = line;
      const found = actual[index];
      const shown = { type: found?.type, object: found?.object };
      const one = `${place}/${index}`;
      if (found !== undefined && Math.abs(found.at - line.at) > latenessMs) {
        this.#comparison.note(`${one}: came at ${found.at}, recorded at ${line.at}`);
      }
      this.#comparison.check(expected, shown, { place: one, at: line.at, about: aboutOf(line) }, volatile ?? []);
    });
  }
}

function named(lines: readonly StreamLine[]): string {
  return lines
    .map(({ at, type, object }) => {
      const fields = object as { kind?: string; metadata?: { name?: string }; reason?: string };
      return `${at}:${type} ${fields.kind ?? ''}/${fields.metadata?.name ?? ''} ${fields.reason ?? ''}`.trim();
    })
    .join(', ');
}

/** Lets what is on its way between server and client arrive. */
async function settle(): Promise<void> {
  for (let round = 0; round < 3; round++) await new Promise((resolve) => setTimeout(resolve, 1));
}

function headersOf(message: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(message.headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  ) as Record<string, string>;
}

function unescape(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

function childOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}

function withValue<T>(target: T, keys: readonly string[], value: unknown): T {
  const [key, ...rest] = keys;
  if (key === undefined) return value as T;
  const inner = withValue(childOf(target, key), rest, value);
  if (Array.isArray(target)) return target.map((item: unknown, index) => (String(index) === key ? inner : item)) as T;
  return { ...target, [key]: inner };
}
