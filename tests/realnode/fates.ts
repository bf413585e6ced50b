/** How a run ends on a real node, by the name of its CronJob. */
export interface Fate {
  readonly says: string;
  /** Fields of the Job's spec and of its pod's. */
  readonly job?: object;
  readonly pod?: object;
  readonly sidecars?: readonly object[];
  /** The first container; its image holds a shell and small tools. */
  readonly container: object;
  /** What must be recorded. */
  readonly status: 'success' | 'failed';
  readonly jobReason: string;
  readonly exitCode: number | null;
  /** Of the container, or of the pod where no container had one; one of them, where the kubelet goes to and fro between two. */
  readonly reasons: readonly (string | null)[];
  /** Lives of the container, over all pods. */
  readonly attempts: number;
  readonly pods: number;
  /** A part of the message that the kubelet or the scheduler gave. */
  readonly message?: RegExp;
  /** A line that the log must hold. */
  readonly log?: string;
  /** A reason among the events. */
  readonly event: string;
  readonly suggestion?: RegExp;
}

const shell = (script: string): object => ({ command: ['sh', '-c', script] });
const littleMemory = { resources: { requests: { memory: '24Mi' }, limits: { memory: '24Mi' } } };
/** Long enough for the kubelet to try, on a machine that has much else to do. */
const waitsInVain = { activeDeadlineSeconds: 25 };

export const fates: Readonly<Record<string, Fate>> = {
  success: {
    says: 'ends well',
    container: shell('echo backup of 3 tables is complete'),
    status: 'success',
    jobReason: 'CompletionsReached',
    exitCode: null,
    reasons: [null],
    attempts: 1,
    pods: 1,
    log: 'backup of 3 tables is complete',
    event: 'Started',
  },
  exit: {
    says: 'ends with exit code 3',
    container: shell('echo table orders: no space left on device; exit 3'),
    status: 'failed',
    jobReason: 'BackoffLimitExceeded',
    exitCode: 3,
    reasons: ['Error'],
    attempts: 1,
    pods: 1,
    log: 'table orders: no space left on device',
    event: 'BackoffLimitExceeded',
    suggestion: /disk is full/,
  },
  oom: {
    says: 'takes more memory than its control group may have, in a child of its first process',
    container: {
      ...shell('echo reading all rows; tail -c 400m /dev/zero; code=$?; sleep 2; exit $code'),
      ...littleMemory,
    },
    status: 'failed',
    jobReason: 'BackoffLimitExceeded',
    exitCode: 137,
    reasons: ['OOMKilled'],
    attempts: 1,
    pods: 1,
    log: 'reading all rows',
    event: 'BackoffLimitExceeded',
    suggestion: /memory/,
  },
  'oom-at-once': {
    // containerd 1.6 tells of memory and of an end by two ways, and says nothing of memory once the control group is gone: of 36 such ends
    // on two busy processors 4 remained `Error` for good. The person on call reads of memory all the same.
    says: 'takes more memory than its control group may have, in its first process',
    container: { ...shell('echo reading all rows; exec tail -c 400m /dev/zero'), ...littleMemory },
    status: 'failed',
    jobReason: 'BackoffLimitExceeded',
    exitCode: 137,
    reasons: ['OOMKilled', 'Error'],
    attempts: 1,
    pods: 1,
    log: 'reading all rows',
    event: 'BackoffLimitExceeded',
    suggestion: /memory/,
  },
  'image-pull': {
    says: 'names an image that no registry has',
    job: waitsInVain,
    container: { image: 'registry.invalid/backup:1' },
    status: 'failed',
    jobReason: 'DeadlineExceeded',
    exitCode: null,
    reasons: ['ErrImagePull', 'ImagePullBackOff'],
    attempts: 1,
    pods: 1,
    message: /registry\.invalid/,
    event: 'Failed',
    suggestion: /image/,
  },
  'image-name': {
    says: 'names an image as none can be called',
    job: waitsInVain,
    container: { image: 'Registry/Backup:1:2' },
    status: 'failed',
    jobReason: 'DeadlineExceeded',
    exitCode: null,
    reasons: ['InvalidImageName'],
    attempts: 1,
    pods: 1,
    message: /couldn't parse image/,
    event: 'InspectFailed',
    suggestion: /image/,
  },
  deadline: {
    says: 'runs longer than its deadline allows',
    job: { activeDeadlineSeconds: 15 },
    pod: { terminationGracePeriodSeconds: 2 },
    container: shell('echo copying; trap "echo told to stop; exit 143" TERM; sleep 600 & wait'),
    status: 'failed',
    jobReason: 'DeadlineExceeded',
    exitCode: 143,
    reasons: ['Error'],
    attempts: 1,
    pods: 1,
    log: 'copying',
    event: 'DeadlineExceeded',
    suggestion: /activeDeadlineSeconds/,
  },
  'start-error': {
    says: 'has a command that is not in its image',
    container: { command: ['/opt/backup/run'] },
    status: 'failed',
    jobReason: 'BackoffLimitExceeded',
    exitCode: 128,
    reasons: ['StartError'],
    attempts: 1,
    pods: 1,
    message: /\/opt\/backup\/run.*no such file/,
    event: 'Failed',
    suggestion: /command|start/,
  },
  'config-error': {
    says: 'wants a ConfigMap that is not there',
    job: waitsInVain,
    container: { ...shell('true'), envFrom: [{ configMapRef: { name: 'backup-settings' } }] },
    status: 'failed',
    jobReason: 'DeadlineExceeded',
    exitCode: null,
    reasons: ['CreateContainerConfigError'],
    attempts: 1,
    pods: 1,
    message: /configmap "backup-settings" not found/,
    event: 'Failed',
    suggestion: /ConfigMap|Secret/,
  },
  unschedulable: {
    says: 'wants 64 processors',
    job: waitsInVain,
    container: { ...shell('true'), resources: { requests: { cpu: '64' } } },
    status: 'failed',
    jobReason: 'DeadlineExceeded',
    exitCode: null,
    reasons: ['Unschedulable'],
    attempts: 1,
    pods: 1,
    message: /Insufficient cpu/,
    event: 'FailedScheduling',
    suggestion: /node|request/i,
  },
  'new-pods': {
    says: 'is retried in new pods',
    job: { backoffLimit: 2 },
    container: shell('echo cannot log in; exit 4'),
    status: 'failed',
    jobReason: 'BackoffLimitExceeded',
    exitCode: 4,
    reasons: ['Error'],
    attempts: 3,
    pods: 3,
    log: 'cannot log in',
    event: 'BackoffLimitExceeded',
  },
  restarts: {
    says: 'is restarted in its pod until it succeeds',
    job: { backoffLimit: 4 },
    pod: { restartPolicy: 'OnFailure', volumes: [{ name: 'lives', emptyDir: {} }] },
    container: {
      ...shell('echo x >> /lives/all; echo life $(wc -l < /lives/all); [ $(wc -l < /lives/all) -ge 3 ] || exit 5'),
      volumeMounts: [{ name: 'lives', mountPath: '/lives' }],
    },
    status: 'success',
    jobReason: 'CompletionsReached',
    exitCode: null,
    reasons: [null],
    attempts: 3,
    pods: 1,
    // The log of a life that failed is kept, not that of the last one.
    log: 'life 1',
    event: 'BackOff',
  },
  sidecar: {
    says: 'fails beside a sidecar, which ends later and well',
    pod: { terminationGracePeriodSeconds: 2 },
    sidecars: [{ name: 'proxy', ...shell('trap "exit 0" TERM; echo proxying; sleep 600 & wait') }],
    container: shell('echo upstream gone; exit 6'),
    status: 'failed',
    jobReason: 'BackoffLimitExceeded',
    exitCode: 6,
    reasons: ['Error'],
    attempts: 1,
    pods: 1,
    log: 'upstream gone',
    event: 'BackoffLimitExceeded',
  },
};
