package oracle

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/kubernetes/pkg/controller/cronjob"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/ttlafterfinished"
	"k8s.io/utils/ptr"
)

const namespace = "oracle"

// change is one object as a watch would tell of it.
type change struct {
	At     time.Time      `json:"at"`
	Type   string         `json:"type"`
	Kind   string         `json:"kind"`
	Object runtime.Object `json:"object"`
}

// cluster is an API server in memory that stamps objects as the real one does, and the real controllers on top of it.
type cluster struct {
	ctx     context.Context
	client  *fake.Clientset
	tell    func(change)
	runs    map[string][]Run
	stop    func()
	stamps  sync.Mutex
	version int64
	started map[string]int
	rejects bool
}

// A watch of the API server in memory panics when its reader is so many events behind: a CronJob that keeps a hundred Jobs goes all at once.
func init() {
	watch.DefaultChanSize = 10_000
}

func newCluster(ctx context.Context, runs map[string][]Run, tell func(change)) *cluster {
	c := &cluster{ctx: ctx, client: fake.NewSimpleClientset(), tell: tell, runs: runs, started: map[string]int{}}
	store := clienttesting.ObjectReaction(c.client.Tracker())
	c.client.PrependReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		return c.serve(store, action)
	})
	return c
}

// serve does what the API server does around a write: it stamps, it fills in defaults, it refuses, and it tells watchers.
func (c *cluster) serve(store clienttesting.ReactionFunc, action clienttesting.Action) (bool, runtime.Object, error) {
	resource := action.GetResource().Resource
	if resource == "events" {
		return true, &corev1.Event{}, nil
	}
	switch write := action.(type) {
	case clienttesting.CreateActionImpl:
		return c.create(store, write)
	case clienttesting.DeleteActionImpl:
		before, _ := c.client.Tracker().Get(write.GetResource(), namespace, write.GetName())
		handled, object, err := store(action)
		if err == nil {
			c.told("DELETED", resource, before)
			c.collect(before)
		}
		return handled, object, err
	case clienttesting.UpdateActionImpl:
		if err := c.admit(&write); err != nil {
			return true, nil, err
		}
		handled, object, err := store(write)
		if err == nil {
			c.told("MODIFIED", resource, object)
		}
		return handled, object, err
	case clienttesting.PatchActionImpl:
		_, object, err := store(action)
		if err != nil {
			return true, object, err
		}
		// A patch keeps the version that it found, and controllers pass over an update without a new one.
		c.stamp(object)
		err = c.client.Tracker().Update(write.GetResource(), object, namespace)
		c.told("MODIFIED", resource, object)
		return true, object, err
	}
	return store(action)
}

// admit refuses what was read before another write, and lets a write of the status change nothing else.
func (c *cluster) admit(write *clienttesting.UpdateActionImpl) error {
	sent, err := meta.Accessor(write.GetObject())
	if err != nil {
		return err
	}
	there, err := c.client.Tracker().Get(write.GetResource(), namespace, sent.GetName())
	if err != nil {
		return err
	}
	known, _ := meta.Accessor(there)
	if known.GetResourceVersion() != sent.GetResourceVersion() {
		resource := write.GetResource().GroupResource()
		return errors.NewConflict(resource, sent.GetName(), fmt.Errorf("the object has been modified"))
	}
	object := write.GetObject().DeepCopyObject()
	if write.GetSubresource() == "status" {
		object = there.DeepCopyObject()
		switch sent := write.GetObject().(type) {
		case *batchv1.CronJob:
			object.(*batchv1.CronJob).Status = *sent.Status.DeepCopy()
		case *batchv1.Job:
			object.(*batchv1.Job).Status = *sent.Status.DeepCopy()
		case *corev1.Pod:
			object.(*corev1.Pod).Status = *sent.Status.DeepCopy()
		}
	}
	c.stamp(object)
	write.Object = object
	return nil
}

func (c *cluster) create(store clienttesting.ReactionFunc, write clienttesting.CreateActionImpl) (bool, runtime.Object, error) {
	resource := write.GetResource().Resource
	if resource == "jobs" && c.isRejecting() {
		return true, nil, errors.NewForbidden(write.GetResource().GroupResource(), "", fmt.Errorf("exceeded quota: count/jobs.batch"))
	}
	object := write.GetObject().DeepCopyObject()
	about, _ := meta.Accessor(object)
	if about.GetName() == "" {
		about.SetName(about.GetGenerateName() + strconv.FormatInt(c.next(), 36))
	}
	about.SetNamespace(namespace)
	about.SetUID(types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", c.next(), time.Now().Unix())))
	about.SetCreationTimestamp(metav1.NewTime(time.Now().Truncate(time.Second)))
	about.SetGeneration(1)
	if made, is := object.(*batchv1.Job); is {
		complete(made)
	}
	c.stamp(object)
	write.Object = object
	handled, stored, err := store(write)
	if err != nil {
		return handled, stored, err
	}
	c.told("ADDED", resource, stored)
	if pod, is := stored.(*corev1.Pod); is {
		go c.runPod(pod.DeepCopy())
	}
	return handled, stored, nil
}

// complete fills in what the API server's defaults would: the Job controller counts on it.
func complete(made *batchv1.Job) {
	spec := &made.Spec
	spec.Parallelism, spec.Completions = ptr.To[int32](1), ptr.To[int32](1)
	spec.CompletionMode = ptr.To(batchv1.NonIndexedCompletion)
	spec.PodReplacementPolicy = ptr.To(batchv1.TerminatingOrFailed)
	if spec.BackoffLimit == nil {
		spec.BackoffLimit = ptr.To[int32](6)
	}
	if spec.Suspend == nil {
		spec.Suspend = ptr.To(false)
	}
	labels := map[string]string{batchv1.ControllerUidLabel: string(made.UID), batchv1.JobNameLabel: made.Name}
	spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{batchv1.ControllerUidLabel: string(made.UID)}}
	spec.Template.Labels = labels
}

func (c *cluster) stamp(object runtime.Object) {
	about, err := meta.Accessor(object)
	if err == nil {
		about.SetResourceVersion(strconv.FormatInt(c.next(), 10))
	}
}

func (c *cluster) next() int64 {
	c.stamps.Lock()
	defer c.stamps.Unlock()
	c.version++
	return c.version
}

func (c *cluster) told(kind, resource string, object runtime.Object) {
	if resource == "jobs" || resource == "cronjobs" {
		c.tell(change{At: time.Now().UTC(), Type: kind, Kind: resource, Object: object.DeepCopyObject()})
	}
}

// collect is the garbage collector: what belonged to a deleted object goes a moment later.
func (c *cluster) collect(owner runtime.Object) {
	about, err := meta.Accessor(owner)
	if err != nil {
		return
	}
	go func() {
		if !c.sleep(700 * time.Millisecond) {
			return
		}
		batch, core := c.client.BatchV1().Jobs(namespace), c.client.CoreV1().Pods(namespace)
		if jobs, err := batch.List(c.ctx, metav1.ListOptions{}); err == nil {
			for _, one := range jobs.Items {
				if owned := metav1.GetControllerOf(&one); owned != nil && owned.UID == about.GetUID() {
					_ = batch.Delete(c.ctx, one.Name, metav1.DeleteOptions{})
				}
			}
		}
		if pods, err := core.List(c.ctx, metav1.ListOptions{}); err == nil {
			for _, one := range pods.Items {
				if owned := metav1.GetControllerOf(&one); owned != nil && owned.UID == about.GetUID() {
					_ = core.Delete(c.ctx, one.Name, metav1.DeleteOptions{})
				}
			}
		}
	}()
}

// runPod is the kubelet: it starts the container after a second and ends it as the scenario says.
func (c *cluster) runPod(pod *corev1.Pod) {
	run := c.runOf(pod)
	if !c.sleep(1100 * time.Millisecond) {
		return
	}
	if !c.setPhase(pod.Name, corev1.PodRunning, 0) || !c.sleep(time.Duration(run.Seconds)*time.Second) {
		return
	}
	if run.Succeeded {
		c.setPhase(pod.Name, corev1.PodSucceeded, 0)
	} else {
		c.setPhase(pod.Name, corev1.PodFailed, 3)
	}
}

// runOf gives each Job the next line of the scenario; the pods of one Job all do the same.
func (c *cluster) runOf(pod *corev1.Pod) Run {
	owner := metav1.GetControllerOf(pod)
	made, err := c.client.BatchV1().Jobs(namespace).Get(c.ctx, owner.Name, metav1.GetOptions{})
	if err != nil {
		return Run{}
	}
	name := metav1.GetControllerOf(made).Name
	c.stamps.Lock()
	defer c.stamps.Unlock()
	index, known := c.started[string(made.UID)]
	if !known {
		index = c.started[name]
		c.started[string(made.UID)] = index
		c.started[name] = index + 1
	}
	runs := c.runs[name]
	if len(runs) == 0 {
		return Run{Succeeded: true}
	}
	return runs[index%len(runs)]
}

func (c *cluster) setPhase(name string, phase corev1.PodPhase, exitCode int32) bool {
	pods := c.client.CoreV1().Pods(namespace)
	pod, err := pods.Get(c.ctx, name, metav1.GetOptions{})
	if err != nil {
		return false
	}
	pod = pod.DeepCopy()
	pod.Status.Phase = phase
	if phase != corev1.PodRunning {
		now := metav1.NewTime(time.Now().Truncate(time.Second))
		ended := corev1.ContainerStateTerminated{ExitCode: exitCode, FinishedAt: now}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Terminated: &ended}}}
	}
	_, err = pods.UpdateStatus(c.ctx, pod, metav1.UpdateOptions{})
	return err == nil
}

func (c *cluster) sleep(length time.Duration) bool {
	select {
	case <-time.After(length):
		return true
	case <-c.ctx.Done():
		return false
	}
}

// up starts the real CronJob, Job and TTL controllers, as a kube-controller-manager that has just come up does.
func (c *cluster) up() error {
	if c.stop != nil {
		return nil
	}
	ctx, cancel := context.WithCancel(c.ctx)
	factory := informers.NewSharedInformerFactory(c.client, 0)
	jobs, cronJobs := factory.Batch().V1().Jobs(), factory.Batch().V1().CronJobs()
	scheduling, err := cronjob.NewControllerV2(ctx, jobs, cronJobs, c.client)
	if err != nil {
		cancel()
		return err
	}
	running, err := job.NewController(ctx, factory.Core().V1().Pods(), jobs, c.client)
	if err != nil {
		cancel()
		return err
	}
	clearing := ttlafterfinished.New(ctx, jobs, c.client)
	factory.Start(ctx.Done())
	var ends sync.WaitGroup
	ends.Go(func() { scheduling.Run(ctx, 5) })
	ends.Go(func() { running.Run(ctx, 5) })
	ends.Go(func() { clearing.Run(ctx, 1) })
	c.stop = func() {
		cancel()
		ends.Wait()
		factory.Shutdown()
	}
	return nil
}

func (c *cluster) down() {
	if c.stop != nil {
		c.stop()
		c.stop = nil
	}
}

func (c *cluster) setRejecting(rejects bool) {
	c.stamps.Lock()
	defer c.stamps.Unlock()
	c.rejects = rejects
}

func (c *cluster) isRejecting() bool {
	c.stamps.Lock()
	defer c.stamps.Unlock()
	return c.rejects
}
