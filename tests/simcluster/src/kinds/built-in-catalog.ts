/**
 * The API groups of Kubernetes 1.35 in the order in which discovery lists them, and their resources. One resource a line:
 * `plural singular Kind N|C [verbs=a,b] [short=a,b] [cat=a] [sub:verbs[:group/version/Kind]]…`; `N` is namespaced.
 */
export const builtInCatalog = `
/v1
bindings binding Binding N verbs=create
componentstatuses componentstatus ComponentStatus C verbs=get,list short=cs
configmaps configmap ConfigMap N short=cm
endpoints endpoints Endpoints N short=ep
events event Event N short=ev
limitranges limitrange LimitRange N short=limits
namespaces namespace Namespace C verbs=create,delete,get,list,patch,update,watch short=ns finalize:update status:get,patch,update
nodes node Node C short=no proxy:create,delete,get,patch,update://NodeProxyOptions status:get,patch,update
persistentvolumeclaims persistentvolumeclaim PersistentVolumeClaim N short=pvc status:get,patch,update
persistentvolumes persistentvolume PersistentVolume C short=pv status:get,patch,update
pods pod Pod N short=po cat=all attach:create,get://PodAttachOptions binding:create://Binding ephemeralcontainers:get,patch,update eviction:create:policy/v1/Eviction exec:create,get://PodExecOptions log:get portforward:create,get://PodPortForwardOptions proxy:create,delete,get,patch,update://PodProxyOptions resize:get,patch,update status:get,patch,update
podtemplates podtemplate PodTemplate N
replicationcontrollers replicationcontroller ReplicationController N short=rc cat=all scale:get,patch,update:autoscaling/v1/Scale status:get,patch,update
resourcequotas resourcequota ResourceQuota N short=quota status:get,patch,update
secrets secret Secret N
serviceaccounts serviceaccount ServiceAccount N short=sa token:create:authentication.k8s.io/v1/TokenRequest
services service Service N short=svc cat=all proxy:create,delete,get,patch,update://ServiceProxyOptions status:get,patch,update
apiregistration.k8s.io/v1
apiservices apiservice APIService C cat=api-extensions status:get,patch,update
apps/v1
controllerrevisions controllerrevision ControllerRevision N
daemonsets daemonset DaemonSet N short=ds cat=all status:get,patch,update
deployments deployment Deployment N short=deploy cat=all scale:get,patch,update:autoscaling/v1/Scale status:get,patch,update
replicasets replicaset ReplicaSet N short=rs cat=all scale:get,patch,update:autoscaling/v1/Scale status:get,patch,update
statefulsets statefulset StatefulSet N short=sts cat=all scale:get,patch,update:autoscaling/v1/Scale status:get,patch,update
events.k8s.io/v1
events event Event N short=ev
authentication.k8s.io/v1
selfsubjectreviews selfsubjectreview SelfSubjectReview C verbs=create
tokenreviews tokenreview TokenReview C verbs=create
authorization.k8s.io/v1
localsubjectaccessreviews localsubjectaccessreview LocalSubjectAccessReview N verbs=create
selfsubjectaccessreviews selfsubjectaccessreview SelfSubjectAccessReview C verbs=create
selfsubjectrulesreviews selfsubjectrulesreview SelfSubjectRulesReview C verbs=create
subjectaccessreviews subjectaccessreview SubjectAccessReview C verbs=create
autoscaling/v2
horizontalpodautoscalers horizontalpodautoscaler HorizontalPodAutoscaler N short=hpa cat=all status:get,patch,update
autoscaling/v1
horizontalpodautoscalers horizontalpodautoscaler HorizontalPodAutoscaler N short=hpa cat=all status:get,patch,update
batch/v1
cronjobs cronjob CronJob N short=cj cat=all status:get,patch,update
jobs job Job N cat=all status:get,patch,update
certificates.k8s.io/v1
certificatesigningrequests certificatesigningrequest CertificateSigningRequest C short=csr approval:get,patch,update status:get,patch,update
networking.k8s.io/v1
ingressclasses ingressclass IngressClass C
ingresses ingress Ingress N short=ing status:get,patch,update
ipaddresses ipaddress IPAddress C short=ip
networkpolicies networkpolicy NetworkPolicy N short=netpol
servicecidrs servicecidr ServiceCIDR C status:get,patch,update
policy/v1
poddisruptionbudgets poddisruptionbudget PodDisruptionBudget N short=pdb status:get,patch,update
rbac.authorization.k8s.io/v1
clusterrolebindings clusterrolebinding ClusterRoleBinding C
clusterroles clusterrole ClusterRole C
rolebindings rolebinding RoleBinding N
roles role Role N
storage.k8s.io/v1
csidrivers csidriver CSIDriver C
csinodes csinode CSINode C
csistoragecapacities csistoragecapacity CSIStorageCapacity N
storageclasses storageclass StorageClass C short=sc
volumeattachments volumeattachment VolumeAttachment C status:get,patch,update
volumeattributesclasses volumeattributesclass VolumeAttributesClass C short=vac
admissionregistration.k8s.io/v1
mutatingwebhookconfigurations mutatingwebhookconfiguration MutatingWebhookConfiguration C cat=api-extensions
validatingadmissionpolicies validatingadmissionpolicy ValidatingAdmissionPolicy C cat=api-extensions status:get,patch,update
validatingadmissionpolicybindings validatingadmissionpolicybinding ValidatingAdmissionPolicyBinding C cat=api-extensions
validatingwebhookconfigurations validatingwebhookconfiguration ValidatingWebhookConfiguration C cat=api-extensions
apiextensions.k8s.io/v1
customresourcedefinitions customresourcedefinition CustomResourceDefinition C short=crd,crds cat=api-extensions status:get,patch,update
scheduling.k8s.io/v1
priorityclasses priorityclass PriorityClass C short=pc
coordination.k8s.io/v1
leases lease Lease N
node.k8s.io/v1
runtimeclasses runtimeclass RuntimeClass C
discovery.k8s.io/v1
endpointslices endpointslice EndpointSlice N
resource.k8s.io/v1
deviceclasses deviceclass DeviceClass C
resourceclaims resourceclaim ResourceClaim N status:get,patch,update
resourceclaimtemplates resourceclaimtemplate ResourceClaimTemplate N
resourceslices resourceslice ResourceSlice C
flowcontrol.apiserver.k8s.io/v1
flowschemas flowschema FlowSchema C status:get,patch,update
prioritylevelconfigurations prioritylevelconfiguration PriorityLevelConfiguration C status:get,patch,update
`;
