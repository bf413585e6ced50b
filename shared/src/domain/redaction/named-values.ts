import { blot } from './blot.ts';

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
export function blotNamedValues(text: string): string {
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
