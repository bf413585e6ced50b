import { isIP } from 'node:net';
import { isHostName } from './value-checks.ts';

/** Where a listener listens. Without a host: on all addresses of the machine. Port 0: any free port. */
export interface BindAddress {
  readonly host: string | undefined;
  readonly port: number;
}

/** Reads `[host]:port`, the host optional, IPv6 in brackets. Undefined when the text is no such address. */
export function parseBindAddress(text: string): BindAddress | undefined {
  const match = /^(\[[^\]]*\]|[^:[\]]*):(\d{1,5})$/.exec(text);
  if (!match) return undefined;
  const [, hostText = '', portText = ''] = match;
  const port = Number(portText);
  if (port > 65_535) return undefined;
  if (hostText === '') return { host: undefined, port };

  if (hostText.startsWith('[')) {
    const host = hostText.slice(1, -1);
    return isIP(host) === 6 ? { host, port } : undefined;
  }
  return isIP(hostText) === 4 || isHostName(hostText) ? { host: hostText, port } : undefined;
}
