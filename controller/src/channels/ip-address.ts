import { isIP } from 'node:net';

/** `fe80::1%eth0` is `fe80::1`. */
export function withoutZone(address: string): string {
  const at = address.indexOf('%');
  return at < 0 ? address : address.slice(0, at);
}

/**
 * The IPv4 address that an IPv6 address carries: mapped and compatible forms, those translated by NAT64, 6to4, and ISATAP (RFC 5214).
 * Undefined when it carries none.
 */
export function innerIpv4(address: string): string | undefined {
  if (isIP(address) !== 6) return undefined;
  const groups = groupsOf(address);
  const [first, second, third] = groups;
  if (first === 0x2002) return toIpv4(second, third);
  const leading = groups.slice(0, 6);
  const isZero = (from: number, to: number): boolean => leading.slice(from, to).every((group) => group === 0);
  const isMapped = isZero(0, 5) && leading[5] === 0xffff;
  const isTranslated = isZero(0, 4) && leading[4] === 0xffff && leading[5] === 0;
  const isNat64 = first === 0x64 && second === 0xff9b && isZero(2, 6);
  const isIsatap = (groups[4] === 0 || groups[4] === 0x200) && groups[5] === 0x5efe;
  if (isMapped || isTranslated || isNat64 || isIsatap || isZero(0, 6)) return toIpv4(groups[6], groups[7]);
  return undefined;
}

function toIpv4(high = 0, low = 0): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}

/** The eight groups of an IPv6 address. A URL writes every spelling of one in the same way: hexadecimal, one `::` at most. */
function groupsOf(address: string): number[] {
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const before = toGroups(head);
  const after = toGroups(tail ?? '');
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after];
}

function toGroups(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}
