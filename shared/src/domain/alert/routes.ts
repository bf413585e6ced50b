import type { AlertType, FailureCause, RouteVia, Severity } from '../../contract/index.ts';
import type { Fault } from '../execution/fault.ts';

/** One channel a monitor names, with the severities it takes; none named means both. */
export interface ChannelRef {
  readonly name: string;
  readonly severities: readonly Severity[];
  /** It is told so long after the others, if the alert is open then. Absent: at once. */
  readonly afterMs?: number | undefined;
  /** With `afterMs`: a person's acknowledgement until then keeps it from being told. Absent: it does. */
  readonly unlessAcknowledged?: boolean | undefined;
}

/** A route of a monitor that is open to a CronJob: what it asks of owner and labels is so. Empty lists: any. */
export interface OpenRoute {
  readonly name: string;
  readonly causes: readonly FailureCause[];
  readonly types: readonly AlertType[];
  readonly severities: readonly Severity[];
  readonly channels: readonly {
    readonly name: string;
    /** The owner stands in it: who owns the CronJob names the channel. */
    readonly isOwned: boolean;
  }[];
  /** It asks for owner or labels: what the CronJob says of itself has opened it. */
  readonly isChosen: boolean;
  /** Those that `channelRefs` name are not told. */
  readonly instead: boolean;
  /** Alerts of one cause and scope are told together. */
  readonly fold: boolean;
}

/** Whom a monitor tells of one CronJob. */
export interface Routing {
  readonly enabled: boolean;
  readonly channelRefs: readonly ChannelRef[];
  /** In their order. Absent: none. */
  readonly routes?: readonly OpenRoute[] | undefined;
  /** Channels that an annotation of the CronJob or its Namespace names. Absent: none does. */
  readonly annotation?: readonly string[] | undefined;
  /** Who asks. Absent: not known, and a channel that says whom it admits refuses. */
  readonly monitorNamespace?: string | undefined;
  readonly cronJobNamespace?: string | undefined;
}

/** What of an alert decides who hears of it. */
interface RoutedAlert {
  readonly type: AlertType;
  readonly severity: Severity;
  /** Undefined: nothing tells on whose side it is. */
  readonly fault?: Fault | undefined;
}

/** A channel that exists, as far as it says whom it admits. */
export interface Admitting {
  /**
   * Namespaces; a name may end in `*`. Absent: monitors of all namespaces, and what CronJobs say of themselves from none.
   */
  readonly allowedNamespaces?: readonly string[] | undefined;
}

/** A channel that hears of an alert. */
export interface ToldTo {
  readonly name: string;
  /** 0: at once. */
  readonly afterMs: number;
  readonly via: RouteVia;
  /** Its message is told together with others of this cause and scope. Absent: alone. */
  readonly foldBy?: { readonly cause: FailureCause; readonly scope: string } | undefined;
}

/** A channel that is named for an alert and is not told. */
export interface RefusedChannel {
  readonly name: string;
  readonly reason: 'unknownChannel' | 'channelNotAllowed';
}

type Routes =
  /** Each channel once. `isInstead`: a route that asks for the cause has left out all others. */
  | { readonly told: readonly ToldTo[]; readonly refused: readonly RefusedChannel[]; readonly isInstead?: true }
  /** It is not told, and why. */
  | {
      readonly notRouted: 'alertingDisabled' | 'noChannel' | 'severityNotRouted' | RefusedChannel['reason'];
      readonly refused: readonly RefusedChannel[];
    };

/**
 * The channels that hear of an alert: those of `channelRefs`, and of every route that asks for its cause; besides them those of the
 * annotation, or where none of these can be told, of the first other route of which one can. A route that stands `instead` leaves out
 * `channelRefs`; one that asks for the cause leaves out all that is not about the cause. A route, or an annotation, of which no channel can
 * be told leaves out nothing.
 */
export function routesOf(
  routing: Routing | undefined,
  alert: RoutedAlert,
  channelOf: (name: string) => Admitting | undefined,
): Routes {
  if (!routing?.enabled) return { notRouted: 'alertingDisabled', refused: [] };
  const { channelRefs, routes = [] } = routing;
  const asked = routes.filter((route) => asksFor(route, alert));
  const taken = asked.filter(({ severities }) => takes(severities, alert.severity));
  const admit = (claims: readonly Claim[]): Admitted => admitOf(claims, routing, channelOf);
  const ofRoute = (route: OpenRoute) => ({ route, ...admit(claimsOf(route, alert.fault)) });

  const ofCause = taken.filter(({ causes }) => causes.length > 0).map(ofRoute);
  const parts: Admitted[] = [...ofCause];
  const isInstead = ofCause.some(({ route, told }) => route.instead && told.length > 0);
  if (!isInstead) {
    const own = ownPartsOf(
      admit(annotationClaims(routing)),
      taken.filter(({ causes }) => causes.length === 0).map(ofRoute),
    );
    if (!own.stand) parts.unshift(admit(refClaims(channelRefs, alert.severity)));
    parts.push(...own.parts);
  }
  const refused = [
    ...new Map(parts.flatMap((part) => part.refused.map((one) => [`${one.reason} ${one.name}`, one]))).values(),
  ];
  const told = eachOnce(parts.flatMap((part) => part.told));
  if (told.length > 0) return { told, refused, ...(isInstead && { isInstead }) };
  const [first] = refused;
  if (first) return { notRouted: first.reason, refused };
  return { notRouted: channelRefs.length + asked.length > 0 ? 'severityNotRouted' : 'noChannel', refused };
}

/** A channel that is named, whatever the alert, and what keeps it from being told. */
interface NamedChannel extends Pick<ToldTo, 'name' | 'via'> {
  readonly reason: RefusedChannel['reason'] | undefined;
  /** Its owner stands in its name: that it is not there is how routes are written. */
  readonly isOwned: boolean;
}

/** Every channel that may be told of a CronJob, with what keeps each from it. */
export function namedChannels(
  routing: Routing | undefined,
  channelOf: (name: string) => Admitting | undefined,
): readonly NamedChannel[] {
  if (!routing?.enabled) return [];
  const { channelRefs, routes = [] } = routing;
  const ofRoutes = routes.flatMap((route) => claimsOf(route, undefined));
  const claims = [...channelRefs.map(toRefClaim), ...ofRoutes, ...annotationClaims(routing)];
  return claims.map((claim) => {
    const { name, via, by } = claim;
    return { name, via, isOwned: by === 'owned', reason: admitOf([claim], routing, channelOf).refused[0]?.reason };
  });
}

/** A channel that is asked for, and on whose word. */
interface Claim extends ToldTo {
  /** `monitor`: the monitor names it. `chosen`: so, and the CronJob has chosen it. `owned`: so, and the CronJob fills in its name. */
  readonly by: 'monitor' | 'chosen' | 'owned' | 'cronJob';
}

interface Admitted {
  readonly told: readonly ToldTo[];
  readonly refused: readonly RefusedChannel[];
}

const refClaims = (refs: readonly ChannelRef[], severity: Severity): Claim[] =>
  refs.filter(({ severities }) => takes(severities, severity)).map(toRefClaim);

const toRefClaim = ({ name, afterMs = 0 }: ChannelRef): Claim => ({ name, afterMs, via: 'channelRefs', by: 'monitor' });

const annotationClaims = ({ annotation = [] }: Routing): Claim[] =>
  annotation.map((name) => ({ name, afterMs: 0, via: 'annotation', by: 'cronJob' }));

function claimsOf({ name: route, channels, isChosen, fold }: OpenRoute, fault: Fault | undefined): Claim[] {
  const { cause, scope } = fault ?? {};
  const foldBy = fold && cause !== undefined && scope !== undefined ? { cause, scope } : undefined;
  return channels.map(({ name, isOwned }) => {
    const by = isOwned ? 'owned' : isChosen ? 'chosen' : 'monitor';
    return { name, afterMs: 0, via: `route ${route}`, by, ...(foldBy && { foldBy }) };
  });
}

/** What is told besides `channelRefs` and what asks for the cause; `stand`: in their place. */
function ownPartsOf(
  annotation: Admitted,
  others: readonly (Admitted & { readonly route: OpenRoute })[],
): { readonly parts: readonly Admitted[]; readonly stand: boolean } {
  if (annotation.told.length > 0) return { parts: [annotation], stand: false };
  const index = others.findIndex(({ told }) => told.length > 0);
  const first = others[index];
  // That a route before it names a channel which is not there yet is how routes are written: `{{ .Owner }}` first, then one for all.
  const passed = (first ? others.slice(0, index) : others).map(({ refused }) => ({
    told: [],
    refused: first ? refused.filter(({ reason }) => reason !== 'unknownChannel') : refused,
  }));
  return { parts: [annotation, ...passed, ...(first ? [first] : [])], stand: first?.route.instead === true };
}

function admitOf(
  claims: readonly Claim[],
  routing: Routing,
  channelOf: (name: string) => Admitting | undefined,
): Admitted {
  const told: ToldTo[] = [];
  const refused: RefusedChannel[] = [];
  for (const { by, ...claim } of claims) {
    const channel = channelOf(claim.name);
    if (!channel) refused.push({ name: claim.name, reason: 'unknownChannel' });
    else if (admits(channel, by, routing)) told.push(claim);
    else refused.push({ name: claim.name, reason: 'channelNotAllowed' });
  }
  return { told, refused };
}

function admits({ allowedNamespaces: allowed }: Admitting, by: Claim['by'], of: Routing): boolean {
  if (allowed === undefined) return by === 'monitor' || by === 'chosen';
  const asking = [
    ...(by === 'cronJob' ? [] : [of.monitorNamespace]),
    ...(by === 'monitor' ? [] : [of.cronJobNamespace]),
  ];
  return asking.every((namespace) => namespace !== undefined && allowed.some((name) => isLike(namespace, name)));
}

/** Whether a text is the pattern, which may end in `*`. */
export function isLike(text: string, pattern: string): boolean {
  return pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern;
}

function asksFor({ causes, types }: OpenRoute, { type, fault }: RoutedAlert): boolean {
  if (types.length > 0 && !types.includes(type)) return false;
  return causes.length === 0 || (fault !== undefined && causes.includes(fault.cause));
}

function takes(severities: readonly Severity[], severity: Severity): boolean {
  return severities.length === 0 || severities.includes(severity);
}

/** A channel that is told for several reasons is told at the earliest of its turns; that its message is folded stays. */
function eachOnce(told: readonly ToldTo[]): readonly ToldTo[] {
  const byName = new Map<string, ToldTo>();
  for (const one of told) {
    const before = byName.get(one.name);
    const first = before && before.afterMs <= one.afterMs ? before : one;
    const foldBy = before?.foldBy ?? one.foldBy;
    byName.set(one.name, foldBy ? { ...first, foldBy } : first);
  }
  return [...byName.values()];
}
