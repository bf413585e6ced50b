import { BlockList, isIP, isIPv4 } from 'node:net';

/** Whether an address of a socket is one of these addresses and CIDRs. IPv4 written as IPv6 is IPv4. */
export function peersOf(entries: readonly string[]): (address: string | undefined) => boolean {
  const peers = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    if (prefix === undefined) peers.addAddress(address, family);
    else peers.addSubnet(address, Number(prefix), family);
  }
  return (address) => {
    if (address === undefined) return false; // the socket is closed: no caller is there
    const plain = address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '').replace(/%.*$/, '');
    if (isIP(plain) === 0) return false;
    return peers.check(plain, isIPv4(plain) ? 'ipv4' : 'ipv6');
  };
}
