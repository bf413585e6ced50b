import { createHash, randomBytes } from 'node:crypto';
import type { Instant } from '../domain/index.ts';

const canonical = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

/**
 * The 16 bytes that stand for a UID, as lower-case UUID text. A UUID stands for itself; any other UID of Kubernetes becomes
 * the first 16 bytes of its SHA-256 (storage.md section 1).
 */
export function toId16(uid: string): string {
  if (canonical.test(uid)) return uid;
  if (uuid.test(uid)) return hexToUuid(uid.replaceAll('-', '').toLowerCase());
  return hexToUuid(createHash('sha256').update(uid, 'utf8').digest('hex').slice(0, 32));
}

/** UUID text of 16 bytes. */
export function id16OfBytes(bytes: Uint8Array): string {
  return hexToUuid(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex'));
}

export function bytesOfId16(id16: string): Buffer {
  return Buffer.from(id16.replaceAll('-', ''), 'hex');
}

const mostOfInstant = 0xfff;
const newest = { ms: -1, ofInstant: 0 };

/**
 * An id of our own: a UUIDv7, which sorts by the instant it was made, and those of one process and instant in the order they were made
 * (RFC 9562, section 6.2, method 1); of one instant the first 4,096.
 */
export function newId(now: Instant): string {
  const ms = Math.max(0, Math.floor(now));
  newest.ofInstant = ms === newest.ms ? Math.min(mostOfInstant, newest.ofInstant + 1) : 0;
  newest.ms = ms;
  const bytes = randomBytes(16);
  bytes.writeUIntBE(ms, 0, 6);
  bytes.writeUInt16BE(0x7000 | newest.ofInstant, 6);
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return id16OfBytes(bytes);
}

/** The least id that can have been made at this instant: ids made before it sort before, on every database. */
export function leastId(at: Instant): string {
  const hex = Math.max(0, Math.floor(at)).toString(16).padStart(12, '0');
  return hexToUuid(hex.padEnd(32, '0'));
}

/** The instant at which an id of our own was made. */
export function instantOfId(id: string): Instant {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
}

function hexToUuid(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
