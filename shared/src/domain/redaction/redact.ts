import { blot } from './blot.ts';
import { blotPrivateKeys } from './private-keys.ts';

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
