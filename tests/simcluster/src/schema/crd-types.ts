import { parseGoTypes } from './go-type.ts';
import { metaTypes } from './meta-types.ts';

/** CustomResourceDefinition. Schemas of versions are kept as they come; custom/ reads them. */
export const crdTypes = parseGoTypes(
  `
CustomResourceDefinitionNames
  plural string
  singular? string
  shortNames? []string
  kind string
  listKind? string
  categories? []string
CustomResourceSubresources
  status? *raw
  scale? *raw
CustomResourceColumnDefinition
  name string
  type string
  format? string
  description? string
  priority? int32
  jsonPath string
CustomResourceValidation
  openAPIV3Schema? *raw
SelectableField
  jsonPath string
CustomResourceDefinitionVersion
  name string
  served bool
  storage bool
  deprecated? bool
  deprecationWarning? *string
  schema? *CustomResourceValidation
  subresources? *CustomResourceSubresources
  additionalPrinterColumns? []CustomResourceColumnDefinition
  selectableFields? []SelectableField
CustomResourceConversion
  strategy string
  webhook? *raw
CustomResourceDefinitionSpec
  group string
  names CustomResourceDefinitionNames
  scope string
  versions []CustomResourceDefinitionVersion
  conversion? *CustomResourceConversion
  preserveUnknownFields? bool
CustomResourceDefinitionCondition
  type string
  status string
  lastTransitionTime Time
  reason? string
  message? string
  observedGeneration? int64
CustomResourceDefinitionStatus
  conditions []CustomResourceDefinitionCondition keys=type
  acceptedNames CustomResourceDefinitionNames
  storedVersions []string
  observedGeneration? int64
CustomResourceDefinition
  kind? string
  apiVersion? string
  metadata? ObjectMeta
  spec CustomResourceDefinitionSpec
  status? CustomResourceDefinitionStatus
`,
  metaTypes,
);
