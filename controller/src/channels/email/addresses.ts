import type { EmailTarget } from '@cronjob-monitor/shared/domain';

/** One mail is for so many. */
const mostRecipients = 50;

/** What keeps a mail from being addressed. Line breaks in an address would be headers or commands of another's. */
export function findAddressProblem({ from, to }: Pick<EmailTarget['email'], 'from' | 'to'>): string | undefined {
  if (!isAddress(from)) return 'spec.email.from is no usable address';
  if (to.length === 0 || to.length > mostRecipients) return `spec.email.to needs 1 to ${mostRecipients} addresses`;
  return to.every(isAddress) ? undefined : 'spec.email.to has an address that cannot be used';
}

function isAddress(text: string): boolean {
  return /^[^\s<>\0]+@[^\s<>\0]+$/.test(text);
}
