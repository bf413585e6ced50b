import { parseGoTypes } from './go-type.ts';

/** Types that every group uses. */
export const metaTypes = parseGoTypes(`
OwnerReference
  apiVersion string
  kind string
  name string
  uid string
  controller? *bool
  blockOwnerDeletion? *bool
ManagedFieldsEntry
  manager? string
  operation? string
  apiVersion? string
  time? *Time
  fieldsType? string
  fieldsV1? *raw
  subresource? string
ObjectMeta
  name? string
  generateName? string
  namespace? string
  selfLink? string
  uid? string
  resourceVersion? string
  generation? int64
  creationTimestamp? Time
  deletionTimestamp? *Time
  deletionGracePeriodSeconds? *int64
  labels? map string
  annotations? map string
  ownerReferences? []OwnerReference merge=uid
  finalizers? []string set merge=
  managedFields? []ManagedFieldsEntry
LabelSelectorRequirement
  key string
  operator string
  values? []string
LabelSelector
  matchLabels? map string
  matchExpressions? []LabelSelectorRequirement
Condition
  type string
  status string
  observedGeneration? int64
  lastTransitionTime Time
  reason string
  message string
Preconditions
  uid? *string
  resourceVersion? *string
DeleteOptions
  kind? string
  apiVersion? string
  gracePeriodSeconds? *int64
  preconditions? *Preconditions
  orphanDependents? *bool
  propagationPolicy? *string
  dryRun? []string
  ignoreStoreReadErrorWithClusterBreakingPotential? *bool
ObjectReference
  kind? string
  namespace? string
  name? string
  uid? string
  apiVersion? string
  resourceVersion? string
  fieldPath? string
LocalObjectReference
  name? string
TypedLocalObjectReference
  apiGroup *string
  kind string
  name string
`);
