import { parseGoTypes } from './go-type.ts';
import { metaTypes } from './meta-types.ts';

/** Volumes of a pod. Kinds of volumes that no test of ours mounts are taken as they come. */
export const volumeTypes = parseGoTypes(
  `
KeySelector
  name? string
  key string
  optional? *bool
KeyToPath
  key string
  path string
  mode? *int32
ObjectFieldSelector
  apiVersion? string
  fieldPath string
ResourceFieldSelector
  containerName? string
  resource string
  divisor? Quantity
HostPathVolumeSource
  path string
  type? *string
EmptyDirVolumeSource
  medium? string
  sizeLimit? *Quantity
SecretVolumeSource
  secretName? string
  items? []KeyToPath
  defaultMode? *int32
  optional? *bool
ConfigMapVolumeSource
  name? string
  items? []KeyToPath
  defaultMode? *int32
  optional? *bool
PersistentVolumeClaimVolumeSource
  claimName string
  readOnly? bool
NFSVolumeSource
  server string
  path string
  readOnly? bool
CSIVolumeSource
  driver string
  readOnly? *bool
  fsType? *string
  volumeAttributes? map string
  nodePublishSecretRef? *LocalObjectReference
DownwardAPIVolumeFile
  path string
  fieldRef? *ObjectFieldSelector
  resourceFieldRef? *ResourceFieldSelector
  mode? *int32
DownwardAPIVolumeSource
  items? []DownwardAPIVolumeFile
  defaultMode? *int32
SecretProjection
  name? string
  items? []KeyToPath
  optional? *bool
ServiceAccountTokenProjection
  audience? string
  expirationSeconds? *int64
  path string
DownwardAPIProjection
  items? []DownwardAPIVolumeFile
VolumeProjection
  secret? *SecretProjection
  downwardAPI? *DownwardAPIProjection
  configMap? *SecretProjection
  serviceAccountToken? *ServiceAccountTokenProjection
  clusterTrustBundle? *raw
  podCertificate? *raw
ProjectedVolumeSource
  sources []VolumeProjection
  defaultMode? *int32
Volume
  name string
  hostPath? *HostPathVolumeSource
  emptyDir? *EmptyDirVolumeSource
  gcePersistentDisk? *raw
  awsElasticBlockStore? *raw
  gitRepo? *raw
  secret? *SecretVolumeSource
  nfs? *NFSVolumeSource
  iscsi? *raw
  glusterfs? *raw
  persistentVolumeClaim? *PersistentVolumeClaimVolumeSource
  rbd? *raw
  flexVolume? *raw
  cinder? *raw
  cephfs? *raw
  flocker? *raw
  downwardAPI? *DownwardAPIVolumeSource
  fc? *raw
  azureFile? *raw
  configMap? *ConfigMapVolumeSource
  vsphereVolume? *raw
  quobyte? *raw
  azureDisk? *raw
  photonPersistentDisk? *raw
  projected? *ProjectedVolumeSource
  portworxVolume? *raw
  scaleIO? *raw
  storageos? *raw
  csi? *CSIVolumeSource
  ephemeral? *raw
  image? *raw
`,
  metaTypes,
);
