import { parseGoTypes } from './go-type.ts';
import { podTypes } from './pod-types.ts';

/** The other built-in kinds that are served: what stands around Jobs and pods. */
export const clusterTypes = parseGoTypes(
  `
NamespaceSpec
  finalizers? []string
NamespaceCondition
  type string
  status string
  lastTransitionTime Time
  reason? string
  message? string
NamespaceStatus
  phase? string
  conditions? []NamespaceCondition merge=type
Namespace
  kind? string
  apiVersion? string
  metadata? ObjectMeta
  spec? NamespaceSpec
  status? NamespaceStatus
ConfigMap
  kind? string
  apiVersion? string
  metadata? ObjectMeta
  immutable? *bool
  data? map string
  binaryData? map bytes
Secret
  kind? string
  apiVersion? string
  metadata? ObjectMeta
  immutable? *bool
  data? map bytes
  stringData? map string
  type? string
ServiceAccount
  kind? string
  apiVersion? string
  metadata? ObjectMeta
  secrets? []ObjectReference merge=name
  imagePullSecrets? []LocalObjectReference
  automountServiceAccountToken? *bool
EventSource
  component? string
  host? string
EventSeries
  count? int32
  lastObservedTime? MicroTime
Event
  kind? string
  apiVersion? string
  metadata ObjectMeta
  involvedObject ObjectReference
  reason? string
  message? string
  source? EventSource
  firstTimestamp Time
  lastTimestamp Time
  count? int32
  type? string
  eventTime MicroTime
  series? *EventSeries
  action? string
  related? *ObjectReference
  reportingComponent string
  reportingInstance string
ResourceQuotaSpec
  hard? map Quantity
  scopes? []string
  scopeSelector? *raw
ResourceQuotaStatus
  hard? map Quantity
  used? map Quantity
ResourceQuota
  kind? string
  apiVersion? string
  metadata? ObjectMeta
  spec? ResourceQuotaSpec
  status? ResourceQuotaStatus
Taint
  key string
  value? string
  effect string
  timeAdded? *Time
NodeSpec
  podCIDR? string
  podCIDRs? []string set merge=
  providerID? string
  unschedulable? bool
  taints? []Taint
  configSource? *raw
  externalID? string
NodeCondition
  type string
  status string
  lastHeartbeatTime Time
  lastTransitionTime Time
  reason? string
  message? string
NodeAddress
  type string
  address string
DaemonEndpoint
  Port int32
NodeDaemonEndpoints
  kubeletEndpoint? DaemonEndpoint
NodeSystemInfo
  machineID string
  systemUUID string
  bootID string
  kernelVersion string
  osImage string
  containerRuntimeVersion string
  kubeletVersion string
  kubeProxyVersion string
  operatingSystem string
  architecture string
NodeStatus
  capacity? map Quantity
  allocatable? map Quantity
  phase? string
  conditions? []NodeCondition merge=type
  addresses? []NodeAddress merge=type
  daemonEndpoints? NodeDaemonEndpoints
  nodeInfo? NodeSystemInfo
  images? []raw
  volumesInUse? []string
  volumesAttached? []raw
  config? *raw
Node
  kind? string
  apiVersion? string
  metadata? ObjectMeta
  spec? NodeSpec
  status? NodeStatus
LeaseSpec
  holderIdentity? *string
  leaseDurationSeconds? *int32
  acquireTime? *MicroTime
  renewTime? *MicroTime
  leaseTransitions? *int32
  strategy? *string
  preferredHolder? *string
Lease
  kind? string
  apiVersion? string
  metadata? ObjectMeta
  spec? LeaseSpec
PodDisruptionBudgetSpec
  minAvailable? *IntOrString
  selector? *LabelSelector
  maxUnavailable? *IntOrString
  unhealthyPodEvictionPolicy? *string
PodDisruptionBudgetStatus
  observedGeneration? int64
  disruptedPods? map Time
  disruptionsAllowed int32
  currentHealthy int32
  desiredHealthy int32
  expectedPods int32
  conditions? []Condition merge=type
PodDisruptionBudget
  kind? string
  apiVersion? string
  metadata? ObjectMeta
  spec? PodDisruptionBudgetSpec
  status? PodDisruptionBudgetStatus
PolicyRule
  verbs []string
  apiGroups? []string
  resources? []string
  resourceNames? []string
  nonResourceURLs? []string
Subject
  kind string
  apiGroup? string
  name string
  namespace? string
RoleRef
  apiGroup string
  kind string
  name string
Role
  kind? string
  apiVersion? string
  metadata? ObjectMeta
  rules []PolicyRule
AggregationRule
  clusterRoleSelectors? []LabelSelector
ClusterRole
  kind? string
  apiVersion? string
  metadata? ObjectMeta
  rules []PolicyRule
  aggregationRule? *AggregationRule
RoleBinding
  kind? string
  apiVersion? string
  metadata? ObjectMeta
  subjects? []Subject
  roleRef RoleRef
`,
  podTypes,
);
