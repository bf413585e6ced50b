import { dropEscapeSequences, otherControls } from '../text/cut.ts';

/** A rule of redaction: the text with what it knows blotted out. Must take time in proportion to the text. */
export type RedactionRule = (text: string) => string;

/**
 * Blots out what looks like a secret in logs, events and messages, before they are stored or sent: a net, not a promise. `more` are the
 * rules of the installation, applied last.
 */
export function createRedactor(more: readonly RedactionRule[] = []): RedactionRule {
  const rules = [...builtIn, ...more];
  return (text) => rules.reduce((redacted, rule) => rule(redacted), text);
}

/*
 * All expressions below run in linear time and constant memory: each begins at a literal, or at a place that a lookbehind allows only
 * once per run of characters, no two neighbouring repetitions share a character, and only classes are repeated without a bound.
 */

/** Values of headers that carry credentials, up to the end of the line or of the quoted text. */
function blotHeaders(text: string): string {
  return text.replace(
    /\b((?:proxy-)?authorization|(?:set-)?cookie)(\\?["']?[ \t]{0,8}[:=][ \t]{0,8}\\?["']?)[^\s"'\\][^\n"'\\]*/gi,
    `$1$2${blot}`,
  );
}

/** A bearer token wherever it stands. Shorter words are more likely prose. */
function blotBearers(text: string): string {
  return text.replace(/\b(bearer)([ \t]{1,8})[A-Za-z0-9._~+/=-]{16,}/gi, `$1$2${blot}`);
}

/** User and password of a URL. The last `@` before the path counts: passwords hold that sign too. */
function blotUserinfo(text: string): string {
  return text.replace(/(:\/\/)[^\s/?#"'<>]{1,1024}@/g, `$1${blot}@`);
}

/** JSON web tokens: three parts in base64url, of which the first two are JSON objects. */
function blotWebTokens(text: string): string {
  return text.replace(/(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]+\.eyJ[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?/g, blot);
}

/** Keys that their issuers made recognisable: AWS, GitHub, GitLab, Slack, Google, Stripe, npm, OpenAI-like, SendGrid, age. */
const issuedKeys = [
  /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/g,
  /(?<![A-Za-z0-9])(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{20,255}/g,
  /(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{20,255}/g,
  /(?<![A-Za-z0-9])glpat-[A-Za-z0-9_-]{16,255}/g,
  /(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,255}/g,
  /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}/g,
  /(?<![A-Za-z0-9])(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,255}/g,
  /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{30,255}/g,
  /(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{20,255}/g,
  /(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}/g,
  /(?<![A-Za-z0-9])AGE-SECRET-KEY-1[A-Z0-9]{50,70}/g,
  /hooks\.slack\.com\/services\/[A-Za-z0-9/]{10,200}/g,
];

function blotIssuedKeys(text: string): string {
  return issuedKeys.reduce((redacted, shape) => redacted.replace(shape, blot), text);
}

/** In this order: what a later rule would cut short comes first. */
const builtIn: readonly RedactionRule[] = [
  blotPrivateKeys,
  blotHeaders,
  blotBearers,
  blotUserinfo,
  blotWebTokens,
  blotIssuedKeys,
  blotNamedValues,
  blotOptions,
];

/** Names whose value is a secret, and words that may follow: `DB_PASSWORD`, `client_secret`, `secretKey`, `token_1`. */
const secretName =
  '(?:passw(?:or)?d|passphrase|pwd|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|signing[-_]?key|encryption[-_]?key|credentials?)' +
  '(?:[-_]?(?:key|value|text|data|hash|base64|[0-9]{1,3})){0,2}';
/** An end quote of the name itself, which may lie within quoted texts, then the sign between name and value. */
const separator = String.raw`(?:\\{0,15}["'])?[ \t]{0,8}(?::=|=>|==|[:=])[ \t]{0,8}`;
const namedSource = secretName + separator;
/** A value without quotes goes up to a blank or the next parameter. */
const bareSource = String.raw`[^\s"'&;\\]+`;

/**
 * Blots out what follows a telling name and `=` or `:`. A value in quotes is blotted within its quotes, so that JSON stays JSON, also
 * JSON within a text of JSON. The value is walked through by hand: an expression would need memory in proportion to it.
 */
function blotNamedValues(text: string): string {
  const named = new RegExp(namedSource, 'gi');
  const bare = new RegExp(bareSource, 'y');
  const kept: string[] = [];
  let from = 0;
  for (let name = named.exec(text); name; name = named.exec(text)) {
    const begin = named.lastIndex;
    const quoted = findQuoted(text, begin);
    if (quoted) {
      kept.push(text.slice(from, quoted.from), blot);
      from = quoted.until;
    } else {
      bare.lastIndex = begin;
      if (!bare.test(text)) continue;
      kept.push(text.slice(from, begin), blot);
      from = bare.lastIndex;
    }
    named.lastIndex = from;
  }
  if (from === 0) return text;
  kept.push(text.slice(from));
  return kept.join('');
}

/** Words that follow the name of an option in a sentence about it: `--password is required`, `--token string`. */
const proseWords =
  '(?:is|was|are|has|must|should|needs?|to|and|or|for|from|with|in|on|cannot|not|no|flag|option|argument|string|value|required|missing|expects?)(?![^\\s.,;:])';

/** Blots out what follows an option of a command line with a telling name: `--password hunter2`, `"--db-token", "abc"`. */
function blotOptions(text: string): string {
  // The look back for the dashes comes behind the name, which is rare.
  const option = `${secretName}(?<=(?<![\\w-])--?[A-Za-z0-9-]{0,60})(?:["'],[ \\t]{0,8}|[ \\t]{1,8})`;
  const value = `(?:"[^"\\n]+|'[^'\\n]+|(?!${proseWords})[^\\s"'&;,-][^\\s"'&;,]*)`;
  return text.replace(new RegExp(`(${option})(${value})`, 'gi'), (_, name: string, found: string) => {
    const quote = /^["']/.exec(found)?.[0] ?? '';
    return `${name}${quote}${blot}`;
  });
}

/** Deepest nesting of quoted texts: four levels are `\\\\\\\"`. */
const mostBackslashes = 15;

/**
 * What stands in quotes at `at`; undefined where there are none, or nothing within them. A quote within `n` quoted texts has 2^n - 1
 * backslashes before it; the text ends at the next quote of its own level or of one around it, or with its line.
 */
function findQuoted(text: string, at: number): { readonly from: number; readonly until: number } | undefined {
  const depth = backslashesAt(text, at);
  const quote = text[at + depth];
  if ((quote !== '"' && quote !== "'") || depth > mostBackslashes || (depth & (depth + 1)) !== 0) return undefined;
  const from = at + depth + 1;
  let until = from;
  while (until < text.length && text[until] !== '\n') {
    const slashes = backslashesAt(text, until);
    const isQuote = text[until + slashes] === quote;
    if (isQuote && (slashes < depth || slashes % (2 * (depth + 1)) === depth)) {
      until += Math.max(0, slashes - depth);
      break;
    }
    until = Math.min(until + slashes + 1, text.length);
    if (slashes > 0 && text[until - 1] === '\n') until--;
  }
  return until === from ? undefined : { from, until };
}

function backslashesAt(text: string, at: number): number {
  let end = at;
  while (text[end] === '\\') end++;
  return end - at;
}

/** Bounded, so that words that only begin like an end of a block cost no more than their own length. */
const eitherEnd = '-----(BEGIN|END) [A-Z ]{0,40}PRIVATE KEY-----';
const closingEnd = '-----END [A-Z ]{0,40}PRIVATE KEY-----';
/** A line of such a block that has lost its other end. */
const keyLine = /^[ \t]*[A-Za-z0-9+/=]{8,}[ \t\r]*$/;
/** The same, or a blank one, from any place on; fails at the first character that no key has, however long the line. */
const restOfKeyLine = /(?:[ \t]*[A-Za-z0-9+/=]{8,}[ \t\r]*|[ \t\r]*)(?:\n|$)/y;
/** Fewer characters of a key are more likely a word. */
const leastKeyChars = 8;

/**
 * PEM blocks of private keys with their contents blotted out. Of a block whose beginning or end is missing, for the log was cut there,
 * the lines that look like a key go. One pass: each character is looked at by a bounded number of steps, however many halves of blocks
 * the text holds.
 */
function blotPrivateKeys(text: string): string {
  if (!text.includes('PRIVATE KEY-----')) return text;
  const ends = new RegExp(eitherEnd, 'g');
  const nextClosing = createClosingSearch(text);
  const kept: string[] = [];
  let from = 0;
  for (let end = ends.exec(text); end; end = ends.exec(text)) {
    const until = ends.lastIndex;
    if (end[1] === 'END') {
      kept.push(blotKeyBefore(text, from, end.index), end[0]);
      from = until;
      continue;
    }
    kept.push(text.slice(from, until));
    const closing = nextClosing(until);
    from = closing?.from ?? endOfKey(text, until);
    if (from > until) kept.push(blot);
    if (closing) {
      kept.push(text.slice(closing.from, closing.until));
      from = closing.until;
    }
    ends.lastIndex = from;
  }
  kept.push(text.slice(from));
  return kept.join('');
}

/** Finds the first end of a block at or behind a place; places only grow, so that the text is searched once. */
function createClosingSearch(text: string): (from: number) => { from: number; until: number } | undefined {
  const ends = new RegExp(closingEnd, 'g');
  let found: { from: number; until: number } | undefined = { from: -1, until: 0 };
  return (from) => {
    if (found && found.from < from) {
      ends.lastIndex = from;
      const end = ends.exec(text);
      found = end ? { from: end.index, until: ends.lastIndex } : undefined;
    }
    return found;
  };
}

/** Where what looks like a key ends: on the line of its beginning, or on the lines after it. */
function endOfKey(text: string, inside: number): number {
  const sameLine = afterKeyChars(text, inside);
  let from = sameLine - inside >= leastKeyChars ? sameLine : inside;
  restOfKeyLine.lastIndex = from;
  while (from < text.length && restOfKeyLine.test(text)) from = restOfKeyLine.lastIndex;
  return from;
}

/** Behind characters of a key whose line ends may be written as `\n`, as within a JSON text. */
function afterKeyChars(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    if (isKeyChar(text.charCodeAt(at))) at += 1;
    else if (isWrittenLineEnd(text, at)) at += 2;
    else break;
  }
  return at;
}

/** The part of the text before an end without a beginning: what looks like a key right before it goes, on its line and on the lines above. */
function blotKeyBefore(text: string, from: number, until: number): string {
  const part = text.slice(from, until);
  const lineBegin = part.lastIndexOf('\n') + 1;
  const begin = beforeKeyChars(part, lineBegin);
  let keyFrom = lineBegin;
  while (keyFrom > 1) {
    const before = part.lastIndexOf('\n', keyFrom - 2) + 1;
    if (!keyLine.test(part.slice(before, keyFrom - 1))) break;
    keyFrom = before;
  }
  const lines = keyFrom < lineBegin ? `${blot}\n` : '';
  const rest = part.length - begin >= leastKeyChars ? part.slice(lineBegin, begin) + blot : part.slice(lineBegin);
  return part.slice(0, keyFrom) + lines + rest;
}

/** Where the characters of a key begin that stand at the end of the part, not before `least`. */
function beforeKeyChars(part: string, least: number): number {
  let at = part.length;
  while (at > least) {
    if (at - 2 >= least && isWrittenLineEnd(part, at - 2)) at -= 2;
    else if (isKeyChar(part.charCodeAt(at - 1))) at -= 1;
    else break;
  }
  return at;
}

function isWrittenLineEnd(text: string, at: number): boolean {
  if (text[at] !== '\\') return false;
  return text[at + 1] === 'n' || text[at + 1] === 'r';
}

/** Letters, digits, `+`, `/` and `=`. */
function isKeyChar(code: number): boolean {
  if (code >= 0x61) return code <= 0x7a;
  if (code >= 0x41) return code <= 0x5a;
  return (code >= 0x2f && code <= 0x39) || code === 0x2b || code === 0x3d;
}

/** What stands in the place of a secret. */
const blot = '***';

/**
 * The bytes of a log as a text that any database takes and any screen shows: broken UTF-8 is replaced by U+FFFD, NUL and other control
 * characters and terminal sequences are dropped, every line ends in a line feed.
 */
export function toText(bytes: Uint8Array): string {
  return cleanText(new TextDecoder().decode(bytes));
}

/** The same for a text: also without halves of characters. */
export function cleanText(text: string): string {
  return dropEscapeSequences(text.toWellFormed())
    .replaceAll('\r\n', '\n')
    .replaceAll('\r', '\n')
    .replace(otherControls, '');
}

/** The end of a text that fits into `maxBytes` of UTF-8; never begins with a part of a character. */
export function keepEnd(text: string, maxBytes: number): { readonly text: string; readonly truncated: boolean } {
  // A UTF-16 unit takes at most three bytes: most texts need no second look.
  if (text.length * 3 <= maxBytes) return { text, truncated: false };
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return { text, truncated: false };
  let from = bytes.length - maxBytes;
  while (from < bytes.length && ((bytes[from] ?? 0) & 0xc0) === 0x80) from++;
  return { text: bytes.toString('utf8', from), truncated: true };
}

/** Looked at beyond what is kept, bytes: a secret whose first half is cut off is not recognised. */
export const redactionMarginBytes = 64 * 1024;

/**
 * The end of a log, made safe: clean, secrets blotted out, at most `maxBytes` of UTF-8. Nothing but the last `maxBytes` and a margin is
 * looked at, so that the time is bounded whatever a job writes; what is cut then is cut after `redact`. With `cut` the log began earlier
 * than `bytes`: its first line is then only a part of one and is left out, unless it is all there is.
 */
export function toSafeLog(
  bytes: Uint8Array,
  options: { readonly maxBytes: number; readonly cut: boolean; readonly redact: (text: string) => string },
): SafeLog {
  const near = bytes.subarray(-(options.maxBytes + redactionMarginBytes));
  const isCut = options.cut || near.length < bytes.length;
  const whole = toText(near);
  const lineEnd = isCut ? whole.indexOf('\n') : -1;
  const begins = lineEnd >= 0 && lineEnd + 1 < whole.length ? whole.slice(lineEnd + 1) : whole;
  const kept = keepEnd(options.redact(begins), options.maxBytes);
  return { text: kept.text, truncated: kept.truncated || isCut };
}

export interface SafeLog {
  readonly text: string;
  /** Something stood before it. */
  readonly truncated: boolean;
}
