import { BlockList, isIP } from 'node:net';
import { innerIpv4, withoutZone } from './ip-address.ts';

/** Which addresses messages may go to. */
export interface AddressRules {
  /** Takes an IP address as text; whatever is none is refused. */
  refuses(address: string): boolean;
}

/**
 * Never a receiver: this host, loopback, link-local with the metadata services of clouds, multicast, broadcast. Private ranges are
 * not among them, for receivers are often in the cluster. security.md section 4.
 */
const refused = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '255.255.255.255/32',
  '::/128',
  '::1/128',
  'fe80::/10',
  'ff00::/8',
  'fd00:ec2::254/128',
];

/**
 * `deny`: networks refused besides the built-in ones. `allow`: exceptions to all of these. Both in CIDR notation or as single
 * addresses. An IPv4 address inside an IPv6 one is judged as well: it is where the connection may end.
 */
export function createAddressRules(options: {
  readonly deny: readonly string[];
  readonly allow: readonly string[];
}): AddressRules {
  const denied = toBlockList([...refused, ...options.deny]);
  const allowed = toBlockList(options.allow);
  return {
    refuses(text) {
      const address = withoutZone(text);
      if (isIP(address) === 0) return true;
      const inner = innerIpv4(address);
      const forms = inner === undefined ? [address] : [address, inner];
      if (forms.some((form) => contains(allowed, form))) return false;
      return forms.some((form) => contains(denied, form));
    },
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
