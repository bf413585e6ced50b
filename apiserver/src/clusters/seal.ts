import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { AskedAction } from '@cronjob-monitor/shared/store';

/** Fewer bytes can be guessed. */
const leastKeyBytes = 32;

/** Reads the key that the API servers of all clusters share. Throws an error that names the file. */
export function readActionsKey(path: string): KeyObject {
  const text = readFileSync(path, 'utf8').trim();
  if (Buffer.byteLength(text) < leastKeyBytes) {
    throw new Error(`cluster.actions-key-file: file ${path} holds less than ${leastKeyBytes} bytes`);
  }
  return createSecretKey(Buffer.from(text));
}

/** Seals all fields of a row that the other cluster acts on: a writer to the database without the key cannot change them. */
export function sealOf(key: KeyObject, target: string, action: Omit<AskedAction, 'mac'>): string {
  const { id, kind, namespace, name, args, askedBy, expiresAt } = action;
  return macOf(key, ['action', target, id, kind, namespace, name, args, askedBy, expiresAt]);
}

export function isSealed(key: KeyObject, target: string, action: AskedAction): boolean {
  return isSame(action.mac, sealOf(key, target, action));
}

/** The text of a result with its seal, and back: undefined for one that no agent with the key wrote for this action. */
export function sealResult(key: KeyObject, id: string, text: string): string {
  return `${macOf(key, ['result', id, text])} ${text}`;
}

export function openResult(key: KeyObject, id: string, sealed: string): unknown {
  const at = sealed.indexOf(' ');
  const text = sealed.slice(at + 1);
  return isSame(sealed.slice(0, Math.max(0, at)), macOf(key, ['result', id, text])) ? JSON.parse(text) : undefined;
}

/** Signs a list of texts and numbers, which JSON writes in only one way. */
function macOf(key: KeyObject, parts: readonly (string | number)[]): string {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest('hex');
}

function isSame(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
