import type { severityOf } from '../../delivery/title.ts';
import { inBytes } from '../../text/cut.ts';
import type { Fitting } from '../fit.ts';
import type { MessageDocument } from '../message-document.ts';

/** What a body needs besides the words. */
interface About {
  /** The room that the spec names. */
  readonly room: string | undefined;
  /** The same for all messages of one alert. */
  readonly streamId: string;
  readonly severity: ReturnType<typeof severityOf>;
  /** It tells an end. */
  readonly isEnd: boolean;
  /** All that matters of it, for a receiver that shows no more than a text. */
  readonly standalone: string;
}

/** What a chat service answered. */
interface ChatAnswer {
  readonly status: number;
  readonly text: string;
}

/** One chat service: what its messages look like, how large they may be, how often they may come, and what its answers mean. */
export interface ChatFormat<Body extends object = object> extends Omit<Fitting<Body>, 'render'> {
  /** Pure. Every text of the document comes from strangers: nothing of it may mention people, be a link or be markup. */
  render(document: MessageDocument, about: About): Body;
  /** Least time between two messages to a room. */
  readonly gapMs: number;
  /** Whether an answer of the class 2xx says that the message was taken. */
  takes(answer: ChatAnswer): boolean;
  /** How long a refusal asks for patience in its text; undefined: it does not. Retry-After goes first. */
  patienceMsOf?(text: string): number | undefined;
  /** Where the message goes, and what the address adds to the body. */
  address?(url: URL, body: object, deliveryId: string): { readonly url: URL; readonly body: object };
}

export const takesAny = (): boolean => true;
export const takesOk = ({ status }: ChatAnswer): boolean => status === 200;

/** Bytes of the body as it is sent. */
export function jsonBytes(body: object): number {
  return inBytes(JSON.stringify(body));
}
