import { createHmac } from 'node:crypto';

const prefix = 'whsec_';
const fewestBytes = 24;
const mostBytes = 64;
/** A second key while receivers change from one to the other. */
const mostKeys = 2;

/**
 * The keys in the value of a Secret: one, or two apart by blanks or a comma. Undefined when it is none of this; a wrong key is not
 * told apart from a right one by any sentence.
 */
export function readSigningKeys(value: string): readonly Buffer[] | undefined {
  const keys = value
    .split(/[\s,]+/)
    .filter((text) => text !== '')
    .map(toKey);
  const good = keys.filter((key) => key !== undefined);
  return good.length === keys.length && good.length >= 1 && good.length <= mostKeys ? good : undefined;
}

/**
 * The value of `webhook-signature`: one signature for each key over id, time and body.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function sign(
  keys: readonly Buffer[],
  { id, timestamp, body }: { readonly id: string; readonly timestamp: number; readonly body: string },
): string {
  const content = `${id}.${timestamp}.${body}`;
  return keys.map((key) => `v1,${createHmac('sha256', key).update(content).digest('base64')}`).join(' ');
}

function toKey(text: string): Buffer | undefined {
  const encoded = text.startsWith(prefix) ? text.slice(prefix.length) : '';
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return undefined;
  const key = Buffer.from(encoded, 'base64');
  return key.length >= fewestBytes && key.length <= mostBytes ? key : undefined;
}
