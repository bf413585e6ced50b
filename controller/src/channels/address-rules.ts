import { BlockList, isIP } from 'node:net';

/** Which addresses messages may go to. */
export interface AddressRules {
  /** Takes an IP address as text; whatever is none is refused. */
  refuses(address: string): boolean;
  /** Whether keys of paging services may go to this endpoint: they are worth something wherever they are used. */
  takesPages(endpoint: URL): boolean;
}

/**
 * Never a receiver: this host, loopback, link-local, the metadata services of clouds wherever they are, multicast, what is reserved,
 * and tunnels whose other end cannot be told. Private ranges are not among them, for receivers are often in the cluster.
 */
const refused = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  '::/128',
  '::1/128',
  'fe80::/10',
  'ff00::/8',
  'fec0::/10',
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
  '64:ff9b:1::/48',
  '2001::/32',
];

/**
 * `deny`: networks refused besides the built-in ones. `allow`: exceptions to all of these. Both in CIDR notation or as single
 * addresses. An IPv4 address inside an IPv6 one is judged as well: it is where the connection may end. A tunnel ends at a host behind that
 * address, so an exception for the address opens none: only one for the IPv6 address does. `pagingEndpoints`: the URLs that paging events
 * may go to.
 */
export function createAddressRules(options: {
  readonly deny: readonly string[];
  readonly allow: readonly string[];
  readonly pagingEndpoints: readonly string[];
}): AddressRules {
  const denied = toBlockList([...refused, ...options.deny]);
  const allowed = toBlockList(options.allow);
  const endpoints = new Set(options.pagingEndpoints.map((endpoint) => URL.parse(endpoint)?.href));
  return {
    refuses(text) {
      const address = withoutZone(text);
      if (isIP(address) === 0) return true;
      const inner = innerIpv4(address);
      const forms = inner === undefined ? [address] : [address, inner];
      if (forms.some((form) => contains(allowed, form) && !(form === inner && isTunnelled(address)))) return false;
      return forms.some((form) => contains(denied, form));
    },
    takesPages: (endpoint) => endpoints.has(endpoint.href),
  };
}

function contains(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

function toBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

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
  if (isMapped || isTranslated || isNat64 || isIsatap(groups) || isZero(0, 6)) return toIpv4(groups[6], groups[7]);
  return undefined;
}

/** 6to4 and ISATAP carry the address of the tunnel's end in front of a network. */
function isTunnelled(address: string): boolean {
  const groups = groupsOf(address);
  return groups[0] === 0x2002 || isIsatap(groups);
}

function isIsatap(groups: readonly number[]): boolean {
  return (groups[4] === 0 || groups[4] === 0x200) && groups[5] === 0x5efe;
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
