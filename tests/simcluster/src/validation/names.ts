const dnsLabel = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const dnsSubdomain = `${dnsLabel}(\\.${dnsLabel})*`;
const qualifiedName = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const labelValue = `(${qualifiedName})?`;
const configKey = '[-._a-zA-Z0-9]+';

function matches(pattern: string, text: string): boolean {
  return new RegExp(`^${pattern}$`).test(text);
}

/** What is wrong with a name that must be a DNS subdomain; empty when nothing is. */
export function subdomainFaults(text: string): string[] {
  const faults: string[] = [];
  if (text.length > 253) faults.push('must be no more than 253 characters');
  if (!matches(dnsSubdomain, text)) {
    faults.push(
      `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${dnsSubdomain}')`,
    );
  }
  return faults;
}

/** What is wrong with a name that must be one DNS label; empty when nothing is. */
export function labelFaults(text: string): string[] {
  const faults: string[] = [];
  if (text.length > 63) faults.push('must be no more than 63 characters');
  if (!matches(dnsLabel, text)) {
    faults.push(
      `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${dnsLabel}')`,
    );
  }
  return faults;
}

const nameRule = `must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${qualifiedName}')`;

/** What is wrong with the key of a label or an annotation; empty when nothing is. */
export function qualifiedNameFaults(text: string): string[] {
  const parts = text.split('/');
  if (parts.length > 2) {
    return [`a valid label key ${nameRule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const name = parts.at(-1) ?? '';
  const faults: string[] = [];
  if (parts.length === 2) {
    const [prefix = ''] = parts;
    if (prefix === '') faults.push('prefix part must be non-empty');
    else faults.push(...subdomainFaults(prefix).map((fault) => `prefix part ${fault}`));
  }
  if (name === '') faults.push('name part must be non-empty');
  else if (name.length > 63) faults.push('name part must be no more than 63 bytes');
  if (!matches(qualifiedName, name)) faults.push(`name part ${nameRule}`);
  return faults;
}

/** What is wrong with the value of a label; empty when nothing is. */
export function labelValueFaults(text: string): string[] {
  const faults: string[] = [];
  if (text.length > 63) faults.push('must be no more than 63 bytes');
  if (!matches(labelValue, text)) {
    faults.push(
      `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '${labelValue}')`,
    );
  }
  return faults;
}

/** What is wrong with a key of a ConfigMap or Secret; empty when nothing is. */
export function configKeyFaults(text: string): string[] {
  const faults: string[] = [];
  if (text.length > 253) faults.push('must be no more than 253 characters');
  if (!matches(configKey, text)) {
    faults.push(
      `a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '${configKey}')`,
    );
  }
  if (text === '.') faults.push("must not be '.'");
  if (text === '..') faults.push("must not be '..'");
  return faults;
}
