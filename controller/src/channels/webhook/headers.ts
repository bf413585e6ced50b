import { validateHeaderValue } from 'node:http';

/** Headers that the service sets or that would change how the request is read. alerting.md section 10.3. */
const reserved = /^(?:host|connection|transfer-encoding|content-(?:length|encoding)|webhook-.*)$/i;
const headerName = /^[A-Za-z0-9-]{1,64}$/;

/** What keeps the headers of a spec from being sent, by the name of the first such header; never its value. */
export function findHeaderProblem(headers: Readonly<Record<string, string>>): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    if (!headerName.test(name) || reserved.test(name))
      return 'spec.webhook.headers names a header that is set by the service';
    if (!isSendable(name, value)) return `the value of the header ${name} cannot be sent`;
  }
  return undefined;
}

/** All headers of a request: those of the spec, `content-type` too, and above them ours. Names in lower case. */
export function mergeHeaders(
  fromSpec: Readonly<Record<string, string>>,
  ours: Readonly<Record<string, string>>,
): Record<string, string> {
  const given = Object.entries(fromSpec).map(([name, value]) => [name.toLowerCase(), value]);
  return { 'content-type': 'application/json', 'user-agent': 'cronjob-monitor', ...Object.fromEntries(given), ...ours };
}

function isSendable(name: string, value: string): boolean {
  try {
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false; // Its message may repeat the value.
  }
}
