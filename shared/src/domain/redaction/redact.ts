import { blot } from './blot.ts';
import { blotNamedValues } from './named-values.ts';
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
