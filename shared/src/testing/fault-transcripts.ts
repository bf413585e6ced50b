import type { FailureCause } from '../contract/index.ts';
import type { ContainerFacts, PodFacts, StartEvent } from '../domain/index.ts';
import { aContainer, aFailedJob, anEnd, aPod } from './facts.ts';
import {
  image,
  node,
  ended,
  waits,
  waitedOut,
  pull,
  oldPull,
  unplaced,
  refused,
  taken,
  type Transcript,
  type Told,
} from './fault-runs.ts';
import { texts } from './fault-texts.ts';

const podOf = (...containers: ContainerFacts[]): PodFacts => aPod({ node, containers });
const anInit = aContainer({ init: true, name: 'prepare', terminated: anEnd(4) });
const aLoop = aContainer({ waiting: 'CrashLoopBackOff', lastTerminated: anEnd(1), restarts: 3 });

const creating = (events: readonly StartEvent[]): Told => waits('ContainerCreating', undefined, { events });
const mount = (message: string): Told => creating([{ reason: 'FailedMount', message }]);

const platform = (scope: string, rows: Readonly<Record<string, Told>>): Transcript[] => told('platform', scope, rows);
const capacity = (rows: Readonly<Record<string, Told>>): Transcript[] => told('capacity', 'namespace prod', rows);
const configuration = (rows: Readonly<Record<string, Told>>): Transcript[] => told('configuration', null, rows);
const application = (rows: Readonly<Record<string, Told>>): Transcript[] => told('application', null, rows);

// oxlint-disable-next-line max-params -- one row each
function told(truth: FailureCause | null, scope: string | null, rows: Readonly<Record<string, Told>>): Transcript[] {
  return Object.entries(rows).map(([says, facts]) => ({ says, truth, scope, ...facts }));
}

const resolve = (why: string): string => `failed to resolve reference "${image}": ${why}`;
const head = 'Head "https://registry.example.com/v2/team/report/manifests/1.4"';
const status = (code: string): string =>
  `unexpected status from HEAD request to https://registry.example.com/v2/team/report/manifests/1.4: ${code}`;
const forbidden = (why: string): string => `pods "report-29920793-" is forbidden: ${why}`;
const available = (why: string): string =>
  `0/3 nodes are available: ${why}. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.`;

/** `StartError: failed to create …` */
function byReason(text: string, of: (reason: string, message: string) => Told): Told {
  const at = text.indexOf(': ');
  return of(text.slice(0, at), text.slice(at + 2));
}

/** What a text becomes, by who writes it. */
const forms: Readonly<Record<Exclude<keyof typeof texts, 'program'>, (text: string) => Told>> = {
  pull: (text) => pull(text),
  refused: (text) => refused(text),
  unplaced: (text) => unplaced(text),
  mount: (text) => mount(text),
  sandbox: (message) =>
    creating([{ reason: message.startsWith('network') ? 'NetworkNotReady' : 'FailedCreatePodSandBox', message }]),
  start: (text) =>
    byReason(text, (reason, message) =>
      reason.startsWith('Create') ? waits(reason, message) : ended(128, reason, {}, message),
    ),
  pod: (text) => byReason(text, (reason, message) => taken({ reason, message })),
};
const faults: Readonly<Record<string, readonly [FailureCause, string | null]>> = {
  registry: ['platform', 'registry registry.example.com'],
  node: ['platform', 'node node-3'],
  cluster: ['platform', 'cluster'],
  capacity: ['capacity', 'namespace prod'],
  configuration: ['configuration', null],
};

function written(): Transcript[] {
  const { program, ...others } = texts;
  const ofOthers = Object.entries(others).flatMap(([form, byFault]) =>
    Object.entries(byFault).flatMap(([fault, list]: [string, readonly string[]]) =>
      list.flatMap((text) => {
        const [cause, scope] = faults[fault] ?? [null, null];
        return told(cause, scope, { [`${form}: ${text}`]: forms[form as keyof typeof forms](text) });
      }),
    ),
  );
  const ofPrograms = Object.entries(program).flatMap(([code, list]) =>
    list.flatMap((text) => application({ [`exit code ${code}: ${text}`]: ended(Number(code), 'Error', {}, text) })),
  );
  return [...ofOthers, ...ofPrograms];
}

export const transcripts: readonly Transcript[] = [
  ...written(),
  ...platform('node node-3', {
    'a drained node, the process was told to stop': ended(143, 'Error', {
      disruption: 'EvictionByEvictionAPI',
      message: undefined,
    }),
    'a drained node, the process caught the signal and gave up': ended(1, 'Error', {
      disruption: 'EvictionByEvictionAPI',
    }),
    'a drained node, the process was killed': ended(137, 'Error', { disruption: 'EvictionByEvictionAPI' }),
    'an eviction before a container ended': taken({ disruption: 'EvictionByEvictionAPI' }),
    'a taint with NoExecute': ended(143, 'Error', { disruption: 'DeletionByTaintManager' }),
    'a taint, the node does not answer': taken({ disruption: 'DeletionByTaintManager' }),
    'a node that was removed': taken({ disruption: 'DeletionByPodGC', message: 'PodGC: node no longer exists' }),
    'a node that was removed while the container ran': ended(137, 'ContainerStatusUnknown', {
      disruption: 'DeletionByPodGC',
    }),
    'a node that was lost': taken({
      reason: 'NodeLost',
      message: 'Node node-3 which was running pod report is unresponsive',
    }),
    'a node that shuts down': ended(143, 'Error', {
      reason: 'Terminated',
      disruption: 'TerminationByKubelet',
      message: 'Pod was terminated in response to imminent node shutdown.',
    }),
    'a node that shut down under an old kubelet': ended(143, 'Error', {
      reason: 'Shutdown',
      message: 'Node is shutting, evicting pods',
    }),
    'a pod that comes while the node shuts down': taken({
      reason: 'NodeShutdown',
      message: 'Pod was rejected as the node is shutting down.',
    }),
    'a pod that a restarted kubelet does not take': taken({
      reason: 'NodeAffinity',
      message: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    }),
    'a device that the node does not give': taken({
      reason: 'UnexpectedAdmissionError',
      message:
        'Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 1, Available: 0, which is unexpected',
    }),
    'a container that was not found after a restart of the node': ended(
      137,
      'ContainerStatusUnknown',
      {},
      'The container could not be located when the pod was deleted.  The container used to be Running',
    ),
    'a container that containerd lost': ended(255, 'Unknown'),
    'a sandbox without an address': creating([
      {
        reason: 'FailedCreatePodSandBox',
        message:
          'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "a1b2": plugin type="calico" failed (add): error getting ClusterInformation: connection is unauthorized: Unauthorized',
      },
    ]),
    'a sandbox in time': creating([
      {
        reason: 'FailedCreatePodSandBox',
        message: 'Failed to create pod sandbox: rpc error: code = DeadlineExceeded desc = context deadline exceeded',
      },
    ]),
    'a sandbox until the deadline': waitedOut(
      creating([
        {
          reason: 'FailedCreatePodSandBox',
          message:
            'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to reserve sandbox name "report_prod": name is reserved',
        },
      ]),
    ),
    'a volume that cannot be attached': creating([
      {
        reason: 'FailedAttachVolume',
        message:
          'AttachVolume.Attach failed for volume "pvc-1" : rpc error: code = Internal desc = Could not attach volume "vol-0a" to node "i-0b": attachment of disk failed',
      },
    ]),
    'a volume that no driver attaches': waitedOut(
      creating([
        {
          reason: 'FailedAttachVolume',
          message:
            'AttachVolume.Attach failed for volume "pvc-1" : timed out waiting for external-attacher of ebs.csi.aws.com CSI driver to attach volume vol-0a',
        },
      ]),
    ),
    'a volume that does not come': mount(
      'Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[]: timed out waiting for the condition',
    ),
    'a file server that does not answer': mount(
      'MountVolume.SetUp failed for volume "data" : mount failed: exit status 32\nOutput: mount.nfs: Connection timed out for nfs-1:/export',
    ),
    'a driver that is not there': mount(
      'MountVolume.MountDevice failed for volume "pvc-1" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name ebs.csi.aws.com is not registered',
    ),
    'a kubelet that cannot read a Secret': waits(
      'CreateContainerConfigError',
      'failed to sync secret cache: timed out waiting for the condition',
    ),
    'a kubelet that cannot read a ConfigMap': waits(
      'CreateContainerConfigError',
      'failed to sync configmap cache: timed out waiting for the condition',
    ),
    'a runtime that does not answer': waits('CreateContainerError', 'context deadline exceeded'),
    'a runtime that still holds the name': waits(
      'CreateContainerError',
      'failed to reserve container name "main_report_prod_0": name "main_report_prod_0" is reserved for "a1b2"',
    ),
    'an image that cannot be looked at': waits(
      'ImageInspectError',
      'Failed to inspect image "registry.example.com/team/report:1.4": rpc error: code = Unavailable desc = connection error',
    ),
  }),
  ...platform('registry registry.example.com', {
    'a registry that answers 503': pull(resolve(status('503 Service Unavailable'))),
    'a registry that answers 500': pull(resolve(status('500 Internal Server Error'))),
    'a proxy before the registry': pull(resolve(status('502 Bad Gateway'))),
    'a registry that is too slow': pull(resolve(status('504 Gateway Timeout'))),
    'a limit of the registry': pull(resolve(status('429 Too Many Requests'))),
    'an error page of the registry': pull(
      'failed to copy: httpReadSeeker: failed open: unexpected status code https://registry.example.com/v2/team/report/blobs/sha256:1f: 503 Service Unavailable',
    ),
    'a registry that takes no connection': pull(
      resolve(`failed to do request: ${head}: dial tcp 10.0.0.9:443: connect: connection refused`),
    ),
    'a registry that does not answer': pull(
      resolve(`failed to do request: ${head}: dial tcp 10.0.0.9:443: i/o timeout`),
    ),
    'a registry in another network': pull(
      resolve(`failed to do request: ${head}: dial tcp 10.0.0.9:443: connect: no route to host`),
    ),
    'a handshake that takes too long': pull(resolve(`failed to do request: ${head}: net/http: TLS handshake timeout`)),
    'a transfer that was cut': pull(
      'failed to copy: read tcp 10.1.0.4:50312->10.0.0.9:443: read: connection reset by peer',
    ),
    'a transfer that ended early': pull(
      'failed to copy: httpReadSeeker: failed open: failed to do request: Get "https://registry.example.com/v2/team/report/blobs/sha256:1f": unexpected EOF',
    ),
    'a name server that does not answer': pull(
      resolve(
        `failed to do request: ${head}: dial tcp: lookup registry.example.com on 10.96.0.10:53: read udp 10.1.0.4:40001->10.96.0.10:53: i/o timeout`,
      ),
    ),
    'a name server that fails': pull(
      resolve(
        `failed to do request: ${head}: dial tcp: lookup registry.example.com on 10.96.0.10:53: server misbehaving`,
      ),
    ),
    'a pull that took too long': pull('context deadline exceeded'),
    'a registry that is away until the deadline': waitedOut(pull(resolve(status('503 Service Unavailable')))),
    'a back-off that says why': waits(
      'ImagePullBackOff',
      `Back-off pulling image "${image}": ErrImagePull: failed to pull and unpack image "${image}": ${resolve(status('503 Service Unavailable'))}`,
    ),
    'a registry that the kubelet calls unavailable': waits(
      'RegistryUnavailable',
      'image pull failed for registry.example.com/team/report:1.4 because the registry is unavailable',
    ),
    'a 503 in an event': oldPull(resolve(status('503 Service Unavailable'))),
    'a timeout in an event': waitedOut(
      oldPull(resolve(`failed to do request: ${head}: dial tcp 10.0.0.9:443: i/o timeout`)),
    ),
  }),
  ...platform('registry docker.io', {
    'the limit of Docker Hub': pull(
      'failed to copy: httpReadSeeker: failed open: unexpected status code https://registry-1.docker.io/v2/library/busybox/manifests/sha256:9a: 429 Too Many Requests - Server message: toomanyrequests: You have reached your unauthenticated pull rate limit.',
      'busybox:1',
    ),
    'the limit of Docker Hub, by a team': pull(
      'failed to resolve reference "docker.io/team/report:1": toomanyrequests: You have reached your pull rate limit.',
      'team/report:1',
    ),
  }),
  ...platform('registry localhost:5000', {
    'a registry on the node': pull(
      'failed to do request: Head "http://localhost:5000/v2/report/manifests/1": dial tcp 127.0.0.1:5000: connect: connection refused',
      'localhost:5000/report:1',
    ),
  }),
  ...platform('webhook validate.kyverno.svc-fail', {
    'a webhook that does not answer': refused(
      'Internal error occurred: failed calling webhook "validate.kyverno.svc-fail": failed to call webhook: Post "https://kyverno-svc.kyverno.svc:443/validate/fail?timeout=10s": context deadline exceeded',
    ),
    'a webhook without a pod': refused(
      'Internal error occurred: failed calling webhook "validate.kyverno.svc-fail": failed to call webhook: Post "https://kyverno-svc.kyverno.svc:443/validate/fail?timeout=10s": no endpoints available for service "kyverno-svc"',
    ),
  }),
  ...platform('webhook sidecar-injector.istio.io', {
    'a webhook with a certificate that has expired': refused(
      'Internal error occurred: failed calling webhook "sidecar-injector.istio.io": failed to call webhook: Post "https://istiod.istio-system.svc:443/inject?timeout=10s": x509: certificate has expired or is not yet valid',
    ),
  }),
  ...platform('cluster', {
    'a database of the cluster that does not answer': refused('etcdserver: request timed out'),
    'an API server that gives up': refused(
      'Timeout: request did not complete within requested timeout - context deadline exceeded',
    ),
    'an API server that is overloaded': refused('the server is currently unable to handle the request'),
    'a quota that is not counted yet': refused(forbidden('status unknown for quota: compute, resources: pods')),
    'nodes of which none is ready': unplaced(
      '0/1 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/not-ready: }. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
    ),
    'nodes of which none answers': unplaced(
      available('3 node(s) had untolerated taint {node.kubernetes.io/unreachable: }'),
    ),
    'no node at all': unplaced('no nodes available to schedule pods'),
  }),
  ...capacity({
    'memory above the limit': ended(137, 'OOMKilled'),
    'memory above the limit, with another code': ended(1, 'OOMKilled'),
    'memory above the limit on a drained node': ended(137, 'OOMKilled', { disruption: 'EvictionByEvictionAPI' }),
    'pressure on the memory of the node': ended(137, 'Error', {
      reason: 'Evicted',
      disruption: 'TerminationByKubelet',
      message:
        'The node was low on resource: memory. Threshold quantity: 100Mi, available: 12Mi. Container main was using 900Mi, request is 0, has larger consumption of memory. ',
    }),
    'pressure, and a container that was not found any more': ended(137, 'ContainerStatusUnknown', {
      reason: 'Evicted',
      message: 'The node was low on resource: ephemeral-storage. ',
    }),
    'pressure before a container ended': taken({
      reason: 'Evicted',
      message: 'The node had condition: [DiskPressure]. ',
    }),
    'too much in a volume of the pod': ended(137, 'Error', {
      reason: 'Evicted',
      message: 'Usage of EmptyDir volume "work" exceeds the limit "1Gi". ',
    }),
    'too much written by the container': ended(137, 'Error', {
      reason: 'Evicted',
      message: 'Container main exceeded its local ephemeral storage limit "1Gi". ',
    }),
    'a pod of higher priority': ended(143, 'Error', { disruption: 'PreemptionByScheduler' }),
    'a pod that the node needs more': taken({
      reason: 'Preempting',
      disruption: 'TerminationByKubelet',
      message: 'Preempted in order to admit critical pod',
    }),
    'a node that filled meanwhile': taken({
      reason: 'OutOfcpu',
      message: "Pod Node didn't have enough resource: cpu, requested: 2000, used: 3500, capacity: 4000",
    }),
    'a node with too many pods': taken({
      reason: 'OutOfpods',
      message: "Pod Node didn't have enough resource: pods, requested: 1, used: 110, capacity: 110",
    }),
    'no node with enough CPU': unplaced(available('3 Insufficient cpu')),
    'no node with enough memory': unplaced(
      available('1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 Insufficient memory'),
    ),
    'one node down and no room on the others': unplaced(
      available('1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }, 2 Insufficient cpu'),
    ),
    'no node with a GPU that is free': unplaced(available('3 Insufficient nvidia.com/gpu')),
    'nodes that are full of pods': unplaced(available('3 Too many pods')),
    'no node until the deadline': waitedOut(unplaced(available('3 Insufficient cpu'))),
    'nodes of another kind': unplaced(available("3 node(s) didn't match Pod's node affinity/selector")),
    'a volume limit of the nodes': unplaced(available('3 node(s) exceed max volume count')),
    'a quota of pods': refused(
      forbidden('exceeded quota: compute, requested: pods=1, used: pods=10, limited: pods=10'),
    ),
    'a quota of memory': refused(
      forbidden(
        'exceeded quota: compute, requested: limits.memory=2Gi, used: limits.memory=7Gi, limited: limits.memory=8Gi',
      ),
    ),
  }),
  ...configuration({
    'an image name as none can be': waits(
      'InvalidImageName',
      'Failed to apply default image tag "Registry/Report:1:2": couldn\'t parse image name "Registry/Report:1:2": invalid reference format',
    ),
    'an image that must be there and is not': waits(
      'ErrImageNeverPull',
      'Container image "report:1" is not present with pull policy of Never',
    ),
    'a tag that does not exist': pull(resolve('registry.example.com/team/report:1.4: not found')),
    'a tag that does not exist, until the deadline': waitedOut(
      pull(resolve('registry.example.com/team/report:1.4: not found')),
    ),
    'a tag that looks like a status': pull(
      `failed to resolve reference "registry.example.com/team/report:503": registry.example.com/team/report:503: not found`,
      'registry.example.com/team/report:503',
    ),
    'a manifest that is not known': oldPull('manifest unknown: manifest unknown'),
    'credentials that are missing': pull(
      resolve(
        'pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed',
      ),
    ),
    'credentials that are wrong': pull(resolve(status('401 Unauthorized'))),
    'a repository that may not be read': pull(resolve(status('403 Forbidden'))),
    'a registry of an unknown authority': pull(
      resolve(
        `failed to do request: ${head}: tls: failed to verify certificate: x509: certificate signed by unknown authority`,
      ),
    ),
    'a registry whose name is misspelt': pull(
      resolve(`failed to do request: ${head}: dial tcp: lookup registry.example.com on 10.96.0.10:53: no such host`),
    ),
    'an image for other processors': pull('no match for platform in manifest: not found'),
    'a registry without TLS': pull(
      resolve(`failed to do request: ${head}: http: server gave HTTP response to HTTPS client`),
    ),
    'an image without a valid signature': waits(
      'SignatureValidationFailed',
      'image pull failed for registry.example.com/team/report:1.4 because the signature validation failed',
    ),
    'a Secret that is missing': waits('CreateContainerConfigError', 'secret "report-token" not found'),
    'a ConfigMap that is missing': waits('CreateContainerConfigError', 'configmap "report" not found'),
    'a key that is missing': waits(
      'CreateContainerConfigError',
      "couldn't find key password in Secret prod/report-token",
    ),
    'a user that is not allowed': waits(
      'CreateContainerConfigError',
      'container has runAsNonRoot and image will run as root (pod: "report_prod(1)", container: main)',
    ),
    'no command': waits('CreateContainerError', 'no command specified'),
    'a sub path that cannot be made': waits(
      'CreateContainerConfigError',
      'failed to create subPath directory for volumeMount "data" of container "main"',
    ),
    'a command that is not in the image': ended(
      128,
      'StartError',
      {},
      'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: exec: "reprot": executable file not found in $PATH',
    ),
    'a command that Docker cannot run': ended(
      127,
      'ContainerCannotRun',
      {},
      'OCI runtime create failed: exec: "reprot": executable file not found in $PATH: unknown',
    ),
    'a working directory that is missing': waits(
      'RunContainerError',
      'failed to start container "a1b2": chdir to cwd ("/srv") set in config.json failed: no such file or directory',
    ),
    'a shell that does not find the command': ended(127),
    'a script that may not be executed': ended(126),
    'a volume of a Secret that is missing': mount(
      'MountVolume.SetUp failed for volume "token" : secret "report-token" not found',
    ),
    'a volume of a ConfigMap without the key': mount(
      'MountVolume.SetUp failed for volume "conf" : configmap references non-existent config key: report.yaml',
    ),
    'a volume of a Secret that is missing, until the deadline': waitedOut(
      mount('MountVolume.SetUp failed for volume "token" : secret "report-token" not found'),
    ),
    'a claim that is missing': unplaced(
      '0/3 nodes are available: persistentvolumeclaim "report-data" not found. not found',
    ),
    'a pod that its namespace forbids': refused(
      forbidden(
        'violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "main" must set securityContext.allowPrivilegeEscalation=false)',
      ),
    ),
    'a service account that is missing': refused(
      forbidden('error looking up service account prod/report: serviceaccount "report" not found'),
    ),
    'limits that a quota asks for': refused(
      forbidden('failed quota: compute: must specify limits.cpu for: main; limits.memory for: main'),
    ),
    'limits above a LimitRange': refused(forbidden('maximum memory usage per Container is 1Gi, but limit is 2Gi')),
    'a priority that is missing': refused(forbidden('no PriorityClass with name high was found')),
    'a webhook that says no': refused(
      'admission webhook "validate.kyverno.svc-fail" denied the request: policy Pod/prod/report for resource violation: require-labels',
    ),
    'a webhook that says no in the words of a quota': refused(
      'admission webhook "policy.example.com" denied the request: forbidden: exceeded quota: one report a day; i/o timeout',
    ),
    'a policy that says no': refused(
      forbidden("ValidatingAdmissionPolicy 'no-latest' with binding 'no-latest' denied request: images need a tag"),
    ),
    'a pod as none can be': refused(
      'Pod "report-29920793-x7k2p" is invalid: spec.containers[0].volumeMounts[0].name: Not found: "dat"',
    ),
    'a namespace that goes': refused(
      forbidden('unable to create new content in namespace prod because it is being terminated'),
    ),
  }),
  ...application({
    'exit code 1': ended(1),
    'exit code 2': ended(2),
    'exit code 255 of its own': ended(255),
    'an abort': ended(134),
    'a bad access to memory': ended(139),
    'a signal that nothing explains': ended(137),
    'a failure with a text of its own': ended(
      1,
      'Error',
      {},
      'Error: failed calling webhook "pay": 503 Service Unavailable: OOMKilled',
    ),
    'a failure after an early trouble with a volume': {
      ...ended(3),
      events: [
        { reason: 'FailedMount', message: 'MountVolume.SetUp failed for volume "conf" : configmap "report" not found' },
      ],
    },
    'a failure after an early wait for a node': {
      ...ended(3),
      events: [{ reason: 'FailedScheduling', message: available('3 Insufficient cpu') }],
    },
    'a failure of an init container': {
      ...ended(1),
      pods: [podOf(anInit, aContainer({ waiting: 'PodInitializing' }))],
    },
    'a restart before the end': { ...ended(1), pods: [podOf(aLoop)] },
    'an own failure after an attempt on a lost node': {
      ...ended(7),
      pods: [
        aPod({
          name: 'first',
          node: 'node-1',
          phase: 'Failed',
          disruption: 'DeletionByTaintManager',
          createdAt: 1_000,
        }),
        ...ended(7).pods,
      ],
    },
    'a deadline': { ...ended(143), job: aFailedJob({ jobReason: 'DeadlineExceeded' }) },
    'a deadline, and the process did not stop': { ...ended(137), job: aFailedJob({ jobReason: 'DeadlineExceeded' }) },
    'a deadline in the wait for the next attempt': waitedOut({ ...ended(1), pods: [podOf(aLoop)] }),
    'a deadline after an attempt that ended by itself': waitedOut(ended(3)),
    'a deadline of the pod': taken({
      reason: 'DeadlineExceeded',
      message: 'Pod was active on the node longer than the specified deadline',
      containers: [aContainer({})],
    }),
    'a rule of the Job': { ...ended(42), job: aFailedJob({ jobReason: 'PodFailurePolicy' }) },
    'a rule of the Job, and no pod is known': {
      job: aFailedJob({ jobReason: 'PodFailurePolicy' }),
      pods: [],
      events: [],
    },
  }),
  ...told(null, null, {
    'all attempts failed, and no pod is known': { job: aFailedJob(), pods: [], events: [] },
    'a deadline, and no pod is known': { job: aFailedJob({ jobReason: 'DeadlineExceeded' }), pods: [], events: [] },
    'a start that goes on': creating([]),
    'a start that the deadline ended, and nothing says why': waitedOut(creating([])),
    'a pull of which the kubelet says nothing': waits('ImagePullBackOff', `Back-off pulling image "${image}"`),
    'a pull that failed in words of its own': pull('failed to extract layer sha256:1f: invalid tar header'),
    'a refusal in words of its own': refused('unexpected answer'),
    'a container that never started and that the deadline took': {
      ...ended(137, 'ContainerStatusUnknown', {}, 'The container could not be located when the pod was terminated'),
      job: aFailedJob({ jobReason: 'DeadlineExceeded' }),
    },
  }),
  // What the rules get wrong: the evidence says something else than what happened.
  ...capacity({
    'a child process that ran out of memory, told by its parent alone': ended(
      137,
      'Error',
      {},
      'worker was killed by signal 9',
    ),
  }),
  ...configuration({
    'a volume that two nodes want': creating([
      {
        reason: 'FailedAttachVolume',
        message: 'Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) report-29920792-k2x9q',
      },
    ]),
  }),
  ...platform('node node-3', {
    'a node without network, told by the program alone': ended(
      1,
      'Error',
      {},
      'dial tcp 10.0.0.7:5432: connect: no route to host',
    ),
  }),
];
