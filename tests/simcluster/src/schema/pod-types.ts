import { parseGoTypes } from './go-type.ts';
import { metaTypes } from './meta-types.ts';
import { volumeTypes } from './volume-types.ts';

/** Pods, their templates and all that lies inside them. */
export const podTypes = parseGoTypes(
  `
ContainerPort
  name? string
  hostPort? int32
  containerPort int32
  protocol? string
  hostIP? string
EnvVarSource
  fieldRef? *ObjectFieldSelector
  resourceFieldRef? *ResourceFieldSelector
  configMapKeyRef? *KeySelector
  secretKeyRef? *KeySelector
  fileKeyRef? *FileKeySelector
FileKeySelector
  volumeName string
  path string
  key string
  optional? *bool
EnvVar
  name string
  value? string
  valueFrom? *EnvVarSource
OptionalReference
  name? string
  optional? *bool
EnvFromSource
  prefix? string
  configMapRef? *OptionalReference
  secretRef? *OptionalReference
ResourceClaim
  name string
  request? string
ResourceRequirements
  limits? map Quantity
  requests? map Quantity
  claims? []ResourceClaim keys=name
ContainerResizePolicy
  resourceName string
  restartPolicy string
ContainerRestartRuleOnExitCodes
  operator? string
  values? []int32 set
ContainerRestartRule
  action? string
  exitCodes? *ContainerRestartRuleOnExitCodes
VolumeMount
  name string
  readOnly? bool
  recursiveReadOnly? *string
  mountPath string
  subPath? string
  mountPropagation? *string
  subPathExpr? string
VolumeDevice
  name string
  devicePath string
ExecAction
  command? []string
HTTPHeader
  name string
  value string
HTTPGetAction
  path? string
  port IntOrString
  host? string
  scheme? string
  httpHeaders? []HTTPHeader
TCPSocketAction
  port IntOrString
  host? string
GRPCAction
  port int32
  service *string
SleepAction
  seconds int64
Probe
  exec? *ExecAction
  httpGet? *HTTPGetAction
  tcpSocket? *TCPSocketAction
  grpc? *GRPCAction
  initialDelaySeconds? int32
  timeoutSeconds? int32
  periodSeconds? int32
  successThreshold? int32
  failureThreshold? int32
  terminationGracePeriodSeconds? *int64
LifecycleHandler
  exec? *ExecAction
  httpGet? *HTTPGetAction
  tcpSocket? *TCPSocketAction
  sleep? *SleepAction
Lifecycle
  postStart? *LifecycleHandler
  preStop? *LifecycleHandler
  stopSignal? *string
Capabilities
  add? []string
  drop? []string
SELinuxOptions
  user? string
  role? string
  type? string
  level? string
WindowsOptions
  gmsaCredentialSpecName? *string
  gmsaCredentialSpec? *string
  runAsUserName? *string
  hostProcess? *bool
SeccompProfile
  type string
  localhostProfile? *string
SecurityContext
  capabilities? *Capabilities
  privileged? *bool
  seLinuxOptions? *SELinuxOptions
  windowsOptions? *WindowsOptions
  runAsUser? *int64
  runAsGroup? *int64
  runAsNonRoot? *bool
  readOnlyRootFilesystem? *bool
  allowPrivilegeEscalation? *bool
  procMount? *string
  seccompProfile? *SeccompProfile
  appArmorProfile? *SeccompProfile
Container
  name string
  image? string
  command? []string
  args? []string
  workingDir? string
  ports? []ContainerPort merge=containerPort keys=containerPort,protocol
  envFrom? []EnvFromSource
  env? []EnvVar merge=name
  resources? ResourceRequirements
  resizePolicy? []ContainerResizePolicy
  restartPolicy? *string
  restartPolicyRules? []ContainerRestartRule
  volumeMounts? []VolumeMount merge=mountPath
  volumeDevices? []VolumeDevice merge=devicePath
  livenessProbe? *Probe
  readinessProbe? *Probe
  startupProbe? *Probe
  lifecycle? *Lifecycle
  terminationMessagePath? string
  terminationMessagePolicy? string
  imagePullPolicy? string
  securityContext? *SecurityContext
  stdin? bool
  stdinOnce? bool
  tty? bool
  targetContainerName? string
Sysctl
  name string
  value string
PodSecurityContext
  seLinuxOptions? *SELinuxOptions
  windowsOptions? *WindowsOptions
  runAsUser? *int64
  runAsGroup? *int64
  runAsNonRoot? *bool
  supplementalGroups? []int64
  supplementalGroupsPolicy? *string
  fsGroup? *int64
  sysctls? []Sysctl
  fsGroupChangePolicy? *string
  seccompProfile? *SeccompProfile
  appArmorProfile? *SeccompProfile
  seLinuxChangePolicy? *string
NodeSelectorRequirement
  key string
  operator string
  values? []string
NodeSelectorTerm
  matchExpressions? []NodeSelectorRequirement
  matchFields? []NodeSelectorRequirement
NodeSelector
  nodeSelectorTerms []NodeSelectorTerm
PreferredSchedulingTerm
  weight int32
  preference NodeSelectorTerm
NodeAffinity
  requiredDuringSchedulingIgnoredDuringExecution? *NodeSelector
  preferredDuringSchedulingIgnoredDuringExecution? []PreferredSchedulingTerm
PodAffinityTerm
  labelSelector? *LabelSelector
  namespaces? []string
  topologyKey string
  namespaceSelector? *LabelSelector
  matchLabelKeys? []string
  mismatchLabelKeys? []string
WeightedPodAffinityTerm
  weight int32
  podAffinityTerm PodAffinityTerm
PodAffinity
  requiredDuringSchedulingIgnoredDuringExecution? []PodAffinityTerm
  preferredDuringSchedulingIgnoredDuringExecution? []WeightedPodAffinityTerm
Affinity
  nodeAffinity? *NodeAffinity
  podAffinity? *PodAffinity
  podAntiAffinity? *PodAffinity
Toleration
  key? string
  operator? string
  value? string
  effect? string
  tolerationSeconds? *int64
HostAlias
  ip string
  hostnames? []string
PodDNSConfigOption
  name? string
  value? *string
PodDNSConfig
  nameservers? []string
  searches? []string
  options? []PodDNSConfigOption
PodReadinessGate
  conditionType string
TopologySpreadConstraint
  maxSkew int32
  topologyKey string
  whenUnsatisfiable string
  labelSelector? *LabelSelector
  minDomains? *int32
  nodeAffinityPolicy? *string
  nodeTaintsPolicy? *string
  matchLabelKeys? []string
PodOS
  name string
PodSchedulingGate
  name string
PodResourceClaim
  name string
  resourceClaimName? *string
  resourceClaimTemplateName? *string
WorkloadReference
  name string
  podGroup string
  podGroupReplicaKey? string
PodSpec
  volumes? []Volume merge=name
  initContainers? []Container merge=name
  containers []Container merge=name
  ephemeralContainers? []Container merge=name
  restartPolicy? string
  terminationGracePeriodSeconds? *int64
  activeDeadlineSeconds? *int64
  dnsPolicy? string
  nodeSelector? map string atomic
  serviceAccountName? string
  serviceAccount? string
  automountServiceAccountToken? *bool
  nodeName? string
  hostNetwork? bool
  hostPID? bool
  hostIPC? bool
  shareProcessNamespace? *bool
  securityContext? *PodSecurityContext
  imagePullSecrets? []LocalObjectReference merge=name
  hostname? string
  subdomain? string
  affinity? *Affinity
  schedulerName? string
  tolerations? []Toleration
  hostAliases? []HostAlias merge=ip
  priorityClassName? string
  priority? *int32
  dnsConfig? *PodDNSConfig
  readinessGates? []PodReadinessGate
  runtimeClassName? *string
  enableServiceLinks? *bool
  preemptionPolicy? *string
  overhead? map Quantity
  topologySpreadConstraints? []TopologySpreadConstraint merge=topologyKey keys=topologyKey,whenUnsatisfiable
  setHostnameAsFQDN? *bool
  os? *PodOS
  hostUsers? *bool
  schedulingGates? []PodSchedulingGate merge=name
  resourceClaims? []PodResourceClaim merge=name
  resources? *ResourceRequirements
  hostnameOverride? *string
  workloadRef? *WorkloadReference
PodTemplateSpec
  metadata? ObjectMeta
  spec? PodSpec
ContainerStateWaiting
  reason? string
  message? string
ContainerStateRunning
  startedAt Time
ContainerStateTerminated
  exitCode int32
  signal? int32
  reason? string
  message? string
  startedAt Time
  finishedAt Time
  containerID? string
ContainerState
  waiting? *ContainerStateWaiting
  running? *ContainerStateRunning
  terminated? *ContainerStateTerminated
ContainerStatus
  name string
  state? ContainerState
  lastState? ContainerState
  ready bool
  restartCount int32
  image string
  imageID string
  containerID? string
  started? *bool
  allocatedResources? map Quantity
  resources? *ResourceRequirements
  stopSignal? *string
PodCondition
  type string
  observedGeneration? int64
  status string
  lastProbeTime Time
  lastTransitionTime Time
  reason? string
  message? string
PodIP
  ip string
PodStatus
  observedGeneration? int64
  phase? string
  conditions? []PodCondition merge=type
  message? string
  reason? string
  nominatedNodeName? string
  hostIP? string
  hostIPs? []PodIP
  podIP? string
  podIPs? []PodIP merge=ip
  startTime? *Time
  initContainerStatuses? []ContainerStatus
  containerStatuses? []ContainerStatus
  qosClass? string
  ephemeralContainerStatuses? []ContainerStatus
  resize? string
Pod
  kind? string
  apiVersion? string
  metadata? ObjectMeta
  spec? PodSpec
  status? PodStatus
Eviction
  kind? string
  apiVersion? string
  metadata? ObjectMeta
  deleteOptions? *DeleteOptions
`,
  new Map([...metaTypes, ...volumeTypes]),
);
