import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import type { AddressRules } from './address-rules.ts';

/** The host of a URL without the brackets of an IPv6 address. */
export function bareHost(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}

/** All addresses of a name; rejects or is empty when it has none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** As the machine resolves names: hosts file, search domains, name servers. */
const resolveByMachine: ResolveHost = async (host) => {
  const found = await lookup(host, { all: true, verbatim: true });
  return found.map(({ address }) => address);
};

type Reach = { readonly addresses: readonly string[] } | { readonly refused: 'address' } | { readonly refused: 'name' };

/**
 * The addresses that a connection to a host may use. The name is resolved once, here; every one of its addresses must be allowed,
 * so that an answer cannot mix a harmless address with another one. `host` is a name, or an address as a URL writes it.
 */
export async function reach(
  host: string,
  deps: { readonly addresses: AddressRules; readonly resolve?: ResolveHost },
): Promise<Reach> {
  const literal = addressIn(host);
  if (literal !== undefined) {
    return deps.addresses.refuses(literal) ? { refused: 'address' } : { addresses: [literal] };
  }
  let found: readonly string[];
  try {
    found = await (deps.resolve ?? resolveByMachine)(host);
  } catch {
    return { refused: 'name' }; // The reason would only repeat the name.
  }
  if (found.length === 0) return { refused: 'name' };
  return found.some((address) => deps.addresses.refuses(address)) ? { refused: 'address' } : { addresses: found };
}

/** The address that a host is, in any spelling that a connection would take for one: `2130706433`, `0x7f.1`, `[::1]`. */
function addressIn(host: string): string | undefined {
  const bare = bareHost(host);
  if (isIP(bare) !== 0) return bare;
  const written = bareHost(URL.parse(`http://${host}/`)?.hostname ?? '');
  return isIP(written) === 0 ? undefined : written;
}

/** A `lookup` function for sockets that knows only the checked addresses. */
export function lookupIn(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, callback) => {
    const [first] = all;
    if (options.all) callback(null, all);
    else callback(null, first?.address ?? '', first?.family ?? 0);
  };
}
