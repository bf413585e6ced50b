// Package kubelet plays the pods of a control plane that has no machines: it binds pods to nodes of its own, walks them through
// the states that their annotations ask for, and serves their logs where the API server looks for them.
package kubelet

import (
	"context"
	"fmt"
	"log"
	"net"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
)

// Options of a kubelet.
type Options struct {
	Nodes []string
	// Wait before the second restart of a container; doubles with each further one. A real kubelet has 10 s.
	RestartBackOff time.Duration
}

// A Kubelet plays pods until its context ends.
type Kubelet struct {
	options   Options
	client    kubernetes.Interface
	pods      corelisters.PodLister
	recorder  record.EventRecorder
	scheduler record.EventRecorder
	listener  net.Listener
	podIPs    atomic.Int64
	nextNode  atomic.Int64

	mu       sync.Mutex
	runs     map[types.UID]*podRun
	attempts map[types.UID]int // main containers started, by Job
}

// New makes a kubelet and opens its port, without asking the API server anything.
func New(config *rest.Config, options Options) (*Kubelet, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = -1, 0
	config.UserAgent = "sim-kubelet"
	config.ContentType = "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return &Kubelet{
		options: options, client: client, listener: listener,
		runs: map[types.UID]*podRun{}, attempts: map[types.UID]int{},
	}, nil
}

// Start registers the nodes, serves logs and plays pods in the background. It returns once the first list of pods is there.
func (k *Kubelet) Start(ctx context.Context) error {
	for _, name := range k.options.Nodes {
		if err := k.registerNode(ctx, name); err != nil {
			return fmt.Errorf("node %s: %w", name, err)
		}
	}
	if err := k.serveLogs(ctx); err != nil {
		return err
	}
	broadcaster := record.NewBroadcaster()
	broadcaster.StartRecordingToSink(&typedcore.EventSinkImpl{Interface: k.client.CoreV1().Events("")})
	k.recorder = broadcaster.NewRecorder(scheme, v1.EventSource{Component: "kubelet"})
	k.scheduler = broadcaster.NewRecorder(scheme, v1.EventSource{Component: "default-scheduler"})

	factory := informers.NewSharedInformerFactory(k.client, 0)
	informer := factory.Core().V1().Pods()
	k.pods = informer.Lister()
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { k.see(ctx, object) },
		UpdateFunc: func(_, object any) { k.see(ctx, object) },
		DeleteFunc: func(object any) { k.forget(object) },
	})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.Informer().HasSynced) {
		return ctx.Err()
	}
	return nil
}

func (k *Kubelet) see(ctx context.Context, object any) {
	pod, ok := object.(*v1.Pod)
	if !ok || pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	run := k.runs[pod.UID]
	switch {
	case run == nil && pod.Spec.NodeName == "":
		if len(pod.Spec.SchedulingGates) == 0 && pod.DeletionTimestamp == nil && !markedUnschedulable(pod) {
			go k.schedule(ctx, pod)
		}
		return
	case run == nil && k.isOurs(pod.Spec.NodeName):
		run = newPodRun(k, pod)
		k.runs[pod.UID] = run
		go run.play(ctx)
	case run == nil:
		return
	}
	if pod.DeletionTimestamp != nil && pod.DeletionGracePeriodSeconds != nil {
		select {
		case <-run.deletion:
		default:
			run.grace = time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
			close(run.deletion)
		}
	}
}

func (k *Kubelet) forget(object any) {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	pod, ok := object.(*v1.Pod)
	if !ok {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if run := k.runs[pod.UID]; run != nil {
		delete(k.runs, pod.UID)
		select {
		case <-run.deletion:
		default:
			close(run.deletion)
		}
	}
}

func (k *Kubelet) isOurs(node string) bool {
	for _, name := range k.options.Nodes {
		if name == node {
			return true
		}
	}
	return false
}

// schedule binds a pod to one of the nodes in turn, or says that none has room.
func (k *Kubelet) schedule(ctx context.Context, pod *v1.Pod) {
	if partOf(pod, pod.Spec.Containers[0].Name).outcome.kind == outcomeUnschedulable {
		k.refuseToSchedule(ctx, pod)
		return
	}
	node := k.options.Nodes[int(k.nextNode.Add(1))%len(k.options.Nodes)]
	k.untilDone(ctx, func() error {
		return k.client.CoreV1().Pods(pod.Namespace).Bind(ctx, &v1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID},
			Target:     v1.ObjectReference{Kind: "Node", Name: node},
		}, metav1.CreateOptions{})
	})
}

func markedUnschedulable(pod *v1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == v1.PodScheduled && condition.Status == v1.ConditionFalse {
			return true
		}
	}
	return false
}

func (k *Kubelet) refuseToSchedule(ctx context.Context, pod *v1.Pod) {
	message := fmt.Sprintf("0/%d nodes are available: %d Insufficient cpu.", len(k.options.Nodes), len(k.options.Nodes))
	status := *pod.Status.DeepCopy()
	setCondition(&status, time.Now(), v1.PodScheduled, v1.ConditionFalse, v1.PodReasonUnschedulable, message)
	patch, err := statusPatch(pod.UID, pod.Status, status)
	if err != nil {
		k.logf("condition of %s/%s: %v", pod.Namespace, pod.Name, err)
		return
	}
	k.untilDone(ctx, func() error {
		_, err := k.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
		return err
	})
	k.scheduler.Event(pod, v1.EventTypeWarning, "FailedScheduling", message)
}

func (k *Kubelet) removePod(ctx context.Context, pod *v1.Pod) {
	grace := int64(0)
	k.untilDone(ctx, func() error {
		return k.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
			GracePeriodSeconds: &grace, Preconditions: &metav1.Preconditions{UID: &pod.UID},
		})
	})
}

// countAttempt counts the starts of main containers over all pods of a Job: fail-first is about those.
func (k *Kubelet) countAttempt(pod *v1.Pod, isMain bool) int {
	owner := pod.UID
	if reference := metav1.GetControllerOf(pod); reference != nil {
		owner = reference.UID
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if isMain {
		k.attempts[owner]++
	}
	return k.attempts[owner]
}

func (k *Kubelet) nextPodIP() string {
	n := k.podIPs.Add(1)
	return fmt.Sprintf("10.244.%d.%d", n/250%250, n%250+1)
}

func (k *Kubelet) warn(pod *v1.Pod, reason, message string) {
	k.recorder.Event(pod, v1.EventTypeWarning, reason, message)
}

func (k *Kubelet) logf(format string, arguments ...any) {
	log.Printf("kubelet: "+format, arguments...)
}

// registerNode makes a node that looks ready and whose logs are at our port.
func (k *Kubelet) registerNode(ctx context.Context, name string) error {
	node, err := k.client.CoreV1().Nodes().Create(ctx, &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name}},
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		node, err = k.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	}
	if err != nil {
		return err
	}
	now := metav1.Now()
	node.Status.Conditions = []v1.NodeCondition{{
		Type: v1.NodeReady, Status: v1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status",
		LastHeartbeatTime: now, LastTransitionTime: now,
	}}
	node.Status.Addresses = []v1.NodeAddress{{Type: v1.NodeInternalIP, Address: "127.0.0.1"}, {Type: v1.NodeHostName, Address: name}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(k.listener.Addr().(*net.TCPAddr).Port)
	_, err = k.client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
	return err
}
