import { messagePlaceholders, type SuggestionPlaceholder } from '../template/parse.ts';
import { digestedLine, eventLine } from './context-lines.ts';
import {
  type AlertMessage,
  type AlertNews,
  type DigestMessage,
  type DrillMessage,
  type FailurePlace,
  isAboutAlert,
  type Message,
  type Outgoing,
  type TestMessage,
} from './message.ts';
import { severityOf, titleOfMessage } from './title.ts';

/** Texts by placeholder. Every name is there: a known name without a value becomes empty text. */
type MessageValues = Readonly<Record<MessagePlaceholder, string | undefined>>;

/** What the placeholders of a channel's templates stand for in this message, not escaped for any medium. alerting.md section 10.5. */
export function templateValuesOf({ message, place }: Pick<Outgoing, 'message' | 'place'>): MessageValues {
  if (!isAboutAlert(message)) return valuesOfOthers(message);
  const { data } = message;
  const { alert, monitor, job, context, links } = data;
  return {
    ...placeOf(data, place),
    Cluster: textOf(data.cluster),
    'Monitor.Namespace': monitor.namespace,
    'Monitor.Name': monitor.name,
    'Job.Name': job?.name,
    'Job.Trigger': textOf(job?.trigger),
    'Alert.Id': alert.id,
    'Alert.Type': alert.type,
    'Alert.Subject': textOf(alert.subject),
    'Alert.Severity': alert.severity,
    'Alert.State': alert.state,
    'Alert.Title': alert.title,
    'Alert.Message': alert.message,
    'Alert.Since': alert.since,
    'Alert.Count': String(alert.occurrences),
    'Alert.Cause': textOf(alert.cause),
    'Alert.Scope': textOf(alert.scope),
    'Context.SuggestedFix': textOf(context.suggestedFix),
    'Context.Logs': textOf(context.logs),
    'Context.Events': context.events?.map(eventLine).join('\n'),
    'Links.CronJob': textOf(links.cronjob),
    'Links.Alert': textOf(links.alert),
  };
}

function placeOf(data: AlertMessage, place: FailurePlace | null): Record<SuggestionPlaceholder, string | undefined> {
  const { cronjob, job, context } = data;
  const pod = context.pods?.at(-1);
  return {
    'CronJob.Name': cronjob.name,
    'CronJob.Namespace': cronjob.namespace,
    Namespace: cronjob.namespace,
    Name: cronjob.name,
    JobName: job?.name,
    ExitCode: job?.exitCode == null ? undefined : String(job.exitCode),
    Reason: textOf(job?.reason),
    Pod: textOf(place?.pod ?? pod?.name),
    Container: textOf(place?.container),
    Image: textOf(place?.image),
    Node: textOf(place?.node ?? pod?.node),
  };
}

/** A digest, a test and a drill are about no single CronJob: what they can say goes into the names of alerts, the rest is empty. */
function valuesOfOthers(message: Exclude<Message, AlertNews>): MessageValues {
  const said = message.kind === 'digest' ? valuesOfDigest(message.data) : valuesOfTest(message.data);
  return {
    ...nothing,
    Cluster: textOf(message.data.cluster),
    'Alert.Type': message.kind,
    'Alert.Severity': severityOf(message),
    'Alert.Title': titleOfMessage(message),
    ...said,
  };
}

function valuesOfDigest({ digest, links }: DigestMessage): Partial<MessageValues> {
  return {
    'Alert.Id': digest.id,
    'Alert.Subject': digest.cause,
    'Alert.State': digest.ended && digest.total === 0 ? 'resolved' : 'active',
    'Alert.Message': digest.alerts.slice(0, 20).map(digestedLine).join('\n'),
    'Alert.Count': String(digest.total),
    'Links.Alert': textOf(links.alerts),
  };
}

function valuesOfTest({ message, links }: TestMessage | DrillMessage): Partial<MessageValues> {
  const link = 'drill' in links ? links.drill : null;
  // A drill without its link proves nothing, and a template may show the message alone.
  return {
    'Alert.Message': link === null ? message : `${message} ${link}`,
    'Links.Alert': textOf(link ?? links.channel),
  };
}

const nothing = Object.fromEntries(messagePlaceholders.map((name) => [name, undefined])) as MessageValues; // every name is a key

function textOf(value: string | null | undefined): string | undefined {
  return value ?? undefined;
}

type MessagePlaceholder = (typeof messagePlaceholders)[number];
