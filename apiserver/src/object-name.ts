import type { Ref } from '@cronjob-monitor/shared/contract';

/** Names that an object of Kubernetes can have: a path with any other names nothing, and needs no question to say so. */
const form = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

export function isObjectName(text: string): boolean {
  return form.test(text);
}

/** A CronJob, or a group of Jobs, whose name is made of labels and names of objects of any kind. */
const subject = /^(~[A-Za-z0-9][-_.A-Za-z0-9]{0,251}|[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?)$/;

export function isCronJobName(text: string): boolean {
  return subject.test(text);
}

const id = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Ids of alerts, deliveries and silences, as they are written: a path with any other text names nothing. */
export function isObjectId(text: string): boolean {
  return id.test(text);
}

export function isSameRef(one: Ref, other: Ref | undefined): boolean {
  return one.namespace === other?.namespace && one.name === other.name;
}
