import { parseGoTypes } from './go-type.ts';
import { metaTypes } from './meta-types.ts';

/** Questions that are answered and not stored: who is it, and may he. */
export const reviewTypes = parseGoTypes(
  `
UserInfo
  username? string
  uid? string
  groups? []string
  extra? map []string
TokenReviewSpec
  token? string
  audiences? []string
TokenReviewStatus
  authenticated? bool
  user? UserInfo
  audiences? []string
  error? string
TokenReview
  kind? string
  apiVersion? string
  metadata? ObjectMeta
  spec TokenReviewSpec
  status? TokenReviewStatus
BoundObjectReference
  kind? string
  apiVersion? string
  name? string
  uid? string
TokenRequestSpec
  audiences []string
  expirationSeconds *int64
  boundObjectRef *BoundObjectReference
TokenRequestStatus
  token string
  expirationTimestamp Time
TokenRequest
  kind? string
  apiVersion? string
  metadata? ObjectMeta
  spec TokenRequestSpec
  status? TokenRequestStatus
FieldSelectorAttributes
  rawSelector? string
  requirements? []raw
ResourceAttributes
  namespace? string
  verb? string
  group? string
  version? string
  resource? string
  subresource? string
  name? string
  fieldSelector? *FieldSelectorAttributes
  labelSelector? *FieldSelectorAttributes
NonResourceAttributes
  path? string
  verb? string
SubjectAccessReviewStatus
  allowed bool
  denied? bool
  reason? string
  evaluationError? string
SubjectAccessReviewSpec
  resourceAttributes? *ResourceAttributes
  nonResourceAttributes? *NonResourceAttributes
  user? string
  groups? []string
  extra? map []string
  uid? string
SubjectAccessReview
  kind? string
  apiVersion? string
  metadata? ObjectMeta
  spec SubjectAccessReviewSpec
  status? SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec
  resourceAttributes? *ResourceAttributes
  nonResourceAttributes? *NonResourceAttributes
SelfSubjectAccessReview
  kind? string
  apiVersion? string
  metadata? ObjectMeta
  spec SelfSubjectAccessReviewSpec
  status? SubjectAccessReviewStatus
SelfSubjectRulesReviewSpec
  namespace? string
ResourceRule
  verbs []string
  apiGroups? []string
  resources? []string
  resourceNames? []string
NonResourceRule
  verbs []string
  nonResourceURLs? []string
SubjectRulesReviewStatus
  resourceRules []ResourceRule
  nonResourceRules []NonResourceRule
  incomplete bool
  evaluationError? string
SelfSubjectRulesReview
  kind? string
  apiVersion? string
  metadata? ObjectMeta
  spec SelfSubjectRulesReviewSpec
  status? SubjectRulesReviewStatus
SelfSubjectReviewStatus
  userInfo? UserInfo
SelfSubjectReview
  kind? string
  apiVersion? string
  metadata? ObjectMeta
  status? SelfSubjectReviewStatus
`,
  metaTypes,
);
